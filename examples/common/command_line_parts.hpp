// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/text.hpp>

#include "checks.hpp"
#include "draw_options.hpp"
#include "nearest_word.hpp"

namespace examples::detail {

/// A validator for options that take a whole number.
template <class Number>
CLI::Validator whole_number() {
    const auto check = [](const std::string& text) -> std::string {
        Number value{};
        const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
        if (read.ec == std::errc() && read.ptr == text.data() + text.size()) {
            return "";
        }
        return "expects a whole number, but got " + totograph::io::in_quotes(text);
    };
    return {check, "", ""};
}

/// The fields of a list as CSV has them, so that what is in quotes may hold commas.
inline std::vector<std::string> fields_of_list(const std::string& text, const std::string& option) {
    std::vector<std::string> fields;
    try {
        totograph::io::CsvRecords records(text, option, ',');
        std::vector<totograph::io::CsvField> record;
        while (records.next(record)) {
            for (totograph::io::CsvField& field : record) {
                fields.push_back(std::move(field.text));
            }
        }
    } catch (const totograph::Error&) {
        reject(std::string(option)
                   .append(" has quotes that do not match in ")
                   .append(totograph::io::in_quotes(text))
                   .append("; write \"a,b\",c for names with commas."));
    }
    return fields;
}

/// The pieces of "a,b,c" without the blanks around them; one with commas is in quotes of its own. Throws for an empty
/// one.
inline std::vector<std::string> split_list(const std::string& text, const std::string& option) {
    std::vector<std::string> given;
    if (text.find('"') != std::string::npos) {
        given = fields_of_list(text, option);
    } else {
        std::istringstream stream(text + ",");
        for (std::string piece; std::getline(stream, piece, ',');) {
            given.push_back(std::move(piece));
        }
    }
    std::vector<std::string> pieces;
    for (const std::string& piece : given) {
        pieces.emplace_back(totograph::io::without_blanks(piece));
        if (pieces.back().empty()) {
            reject(std::string(option)
                       .append(" has an empty entry in ")
                       .append(totograph::io::in_quotes(text))
                       .append("; write a,b,c."));
        }
    }
    return pieces;
}

/// The numbers of "0.1,0.5".
inline std::vector<double> split_numbers(const std::string& text, const std::string& option) {
    std::vector<double> numbers;
    for (const std::string& piece : split_list(text, option)) {
        double value = 0;
        const auto read = std::from_chars(piece.data(), piece.data() + piece.size(), value);
        if (read.ec != std::errc() || read.ptr != piece.data() + piece.size()) {
            reject(std::string(option)
                       .append(" expects numbers like 0.1,0.5,0.9, but got ")
                       .append(totograph::io::in_quotes(piece))
                       .append("."));
        }
        numbers.push_back(value);
    }
    return numbers;
}

/// An option whose value is a list; given twice, the lists are joined.
template <class Item, class Split>
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<Item>& list, Split split,
                      const std::string& words) {
    const auto append = [name, split, &list](const std::vector<std::string>& values) {
        for (const std::string& text : values) {
            const std::vector<Item> more = split(text, name);
            list.insert(list.end(), more.begin(), more.end());
        }
        return true;
    };
    return app.add_option(name, append, words)->take_all();
}

/// The option about drawn futures that was given, after parsing; empty when none was.
inline std::string given_sampling(const CLI::App& app) {
    for (const char* option : {"--samples", "--seed"}) {
        if (app.count(option) > 0) {
            return option;
        }
    }
    return "";
}

/// The option for a number of threads.
inline CLI::Option* add_threads(CLI::App& app, int& threads) {
    return app.add_option("--threads", threads, "Threads to compute with (default: one a core)")
        ->type_name("N")
        ->check(whole_number<int>());
}

/// What the options about draws say of themselves.
struct DrawWords {
    std::string temperature;
    std::string top_k;
    std::string top_p;
};

/// The options about draws.
inline void add_draw_options(CLI::App& app, DrawOptions& draws, const std::string& group, const DrawWords& words) {
    app.add_option("--temperature", draws.temperature, words.temperature)->type_name("T")->group(group);
    app.add_option("--top-k", draws.top_k, words.top_k)
        ->type_name("K")
        ->check(whole_number<std::int64_t>())
        ->group(group);
    app.add_option("--top-p", draws.top_p, words.top_p)->type_name("P")->group(group);
    app.add_option("--seed", draws.seed, "Seed of the random numbers (default: 0)")
        ->type_name("N")
        ->check(whole_number<std::uint64_t>())
        ->group(group);
}

/// What is wrong with arguments that no option takes; names the option that an unknown one was probably meant to be.
inline std::string words_about_extras(const CLI::App& app) {
    std::vector<std::string> extras = app.remaining();
    const auto is_option = [](const std::string& word) { return word.starts_with("--"); };
    const auto unknown = std::find_if(extras.begin(), extras.end(), is_option);
    if (unknown == extras.end()) {
        return "The argument " + totograph::io::in_quotes(extras.back()) + " was not expected";
    }
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            known.push_back("--" + name);
        }
    }
    const std::string given = unknown->substr(0, unknown->find('='));
    const std::string nearest = nearest_word(given, known);
    return "There is no option " + totograph::io::in_quotes(given) +
           (nearest.empty() ? "" : "; did you mean " + nearest);
}

/// Refuses options that were given an empty value, as from a variable of a shell that is not set: none means anything.
inline void check_not_empty(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
        const std::vector<std::string>& values = option->results();
        if (std::find(values.begin(), values.end(), "") != values.end()) {
            reject("The value of " + option->get_name() + " is empty; give one, or leave the option out.");
        }
    }
}

/// Reads the arguments of a program. False when they ask for an answer alone, as `--help` does: it is in `out` then.
/// Refuses what is wrong; `missing` is what to say when there is no file, for programs that need one.
inline bool parse(CLI::App& app, const std::string& program, int argument_count, const char* const* arguments,
                  std::ostream& out, const std::string& missing = "") {
    try {
        app.parse(argument_count, arguments);
    } catch (const CLI::Success& answered) {
        app.exit(answered, out, out);
        return false;
    } catch (const CLI::ExtrasError&) {
        reject(words_about_extras(app) + "; '" + program + " --help' lists the options.");
    } catch (const CLI::ParseError& error) {
        if (!missing.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
            reject(missing + "; '" + program + " --help' shows examples.");
        }
        reject(totograph::io::printable(error.what(), totograph::io::longest_quote) + "; '" + program +
               " --help' lists the options.");
    }
    check_not_empty(app);
    return true;
}

}  // namespace examples::detail
