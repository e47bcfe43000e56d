// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstddef>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/io/text.hpp>

#include "exit_codes.hpp"
#include "output_files.hpp"

namespace examples {

/// A message as it may be shown, whatever names and arguments it quotes: each line printable and bounded.
inline std::string printable_lines(std::string_view message) {
    constexpr std::size_t longest_line = 1000;
    std::string shown;
    while (true) {
        const std::size_t end = message.find('\n');
        shown += totograph::io::printable(message.substr(0, end), longest_line);
        if (end == std::string_view::npos) {
            return shown;
        }
        shown += '\n';
        message.remove_prefix(end + 1);
    }
}

/// Writes what went wrong in a line that begins with the program's name. Returns `code`.
inline int fail(std::string_view program, std::string_view message, int code) {
    // The library's forecasters begin their sentences with their own name.
    constexpr std::string_view forecaster = "forecast: ";
    if (message.starts_with(forecaster)) {
        message.remove_prefix(forecaster.size());
    }
    std::cerr << program << ": " << printable_lines(message) << "\n";
    return code;
}

/// What `main` does: reads the command line, runs, and makes an exit code and a line of what is thrown.
///
/// `run(options, stage)` returns the exit code and keeps `stage` up to date; `code_of(error, stage)` is the exit code
/// of an `Error`. `smaller` tells what to make smaller when memory lacks.
template <class Parse, class Run, class CodeOf>
int run_program(std::string_view program, const std::string& smaller, const Parse& parse, const Run& run,
                const CodeOf& code_of) {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that closes its end of a pipe shall be an error like any other
    Stage stage = Stage::arguments;
    try {
        std::ostringstream answer;
        const auto options = parse(answer);
        if (options) {
            return run(*options, stage);
        }
        stage = Stage::output;
        print(answer.str());
        return exit_ok;
    } catch (const totograph::Error& error) {
        return fail(program, error.what(), code_of(error, stage));
    } catch (const std::bad_alloc&) {
        return fail(program, "The memory of this machine does not suffice; use " + smaller + ".", exit_other);
    } catch (const std::exception& error) {
        return fail(program, std::string("Something unforeseen went wrong: ") + error.what() + ".", exit_other);
    }
}

template <class Parse, class Run>
int run_program(std::string_view program, const std::string& smaller, const Parse& parse, const Run& run) {
    return run_program(program, smaller, parse, run,
                       [](const totograph::Error& error, Stage stage) { return exit_code(error.code(), stage); });
}

}  // namespace examples
