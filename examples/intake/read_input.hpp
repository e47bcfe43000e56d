// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/io/csv/csv.hpp>
#include <totograph/io/gzip.hpp>
#include <totograph/io/text_file.hpp>

#include "options.hpp"

namespace examples {

/// What an input is called in messages; `-` is standard input.
inline std::string input_name(const std::filesystem::path& input) {
    return input == "-" ? "standard input" : input.string();
}

/// The text of a file or of standard input (`-`), unpacked where gzip compressed it. Throws `Error`.
inline std::string read_input_text(const std::filesystem::path& input) {
    using namespace totograph::io;
    std::string bytes = input == "-" ? read_descriptor(STDIN_FILENO, input_name(input), largest_csv_file)
                                     : read_text_file(input, largest_csv_file);
    return is_gzip(bytes) ? gunzip(bytes, input_name(input), largest_csv_file) : bytes;
}

/// The table that a text holds, of it these columns (empty: all that hold numbers); its notes tell what was decided and
/// repaired. Throws `Error`.
inline totograph::io::Table read_table(std::string_view text, const std::filesystem::path& input,
                                       const IntakeOptions& intake, std::vector<std::string> columns) {
    return totograph::io::parse_csv(text, input_name(input), csv_options(intake, std::move(columns)));
}

/// Says what the user should know, a line each; an empty note is none.
inline void print_notes(const std::string& program, const std::vector<std::string>& notes) {
    for (const std::string& note : notes) {
        if (!note.empty()) {
            std::cerr << program << ": " << note << "\n";
        }
    }
}

}  // namespace examples
