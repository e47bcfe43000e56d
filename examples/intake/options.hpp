// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/text.hpp>

#include "../common/checks.hpp"

namespace examples {

/// What a command line says about the CSV that a program reads; the same words in all programs. What is empty is found
/// out by looking at the input.
struct IntakeOptions {
    std::string timestamp;
    std::string separator;
    std::string decimal;
    std::string date_format;
    std::string header;
    std::vector<std::string> gaps;
    std::vector<std::string> series;
    std::string value;
    std::vector<totograph::io::MarkEvidence> marks;  ///< No option: what other parts of the input tell.
    bool strict = false;
    bool as_is = false;
};

namespace detail {

/// The value of an option that takes one of a few words; nothing for an empty one.
template <class Value>
std::optional<Value> one_of(const std::string& word, const std::string& option,
                            const std::vector<std::pair<std::string, Value>>& words) {
    if (word.empty()) {
        return std::nullopt;
    }
    std::string known;
    for (const auto& [name, value] : words) {
        if (word == name) {
            return value;
        }
        known += (known.empty() ? "" : " or ") + name;
    }
    reject(option + " is " + known + ", but it is " + totograph::io::in_quotes(word) + ".");
}

/// The separator that a command line names: a character, or a word for one that a shell makes hard to type.
inline std::optional<char> named_separator(const std::string& name) {
    if (name.empty()) {
        return std::nullopt;
    }
    if (name == "tab" || name == "\\t") {
        return '\t';
    }
    if (name == "space") {
        return ' ';
    }
    if (name.size() != 1) {
        reject("--separator is one character, or tab or space, but it is " + totograph::io::in_quotes(name) + ".");
    }
    totograph::io::check_csv_separator(name[0]);
    return name[0];
}

}  // namespace detail

/// How the library is to read the input, and of it these columns (empty: all that hold numbers). Throws
/// `Error(invalid_argument)` for words that are none of an option's.
inline totograph::io::CsvOptions csv_options(const IntakeOptions& intake, std::vector<std::string> columns = {}) {
    using totograph::io::DateOrder;
    using totograph::io::DecimalMark;
    using totograph::io::RowPolicy;
    totograph::io::CsvOptions csv;
    csv.separator = detail::named_separator(intake.separator);
    csv.columns = std::move(columns);
    if (!intake.timestamp.empty()) {
        csv.timestamp = intake.timestamp;
    }
    csv.gaps = intake.gaps;
    csv.header = detail::one_of<bool>(intake.header, "--header", {{"yes", true}, {"no", false}});
    csv.decimal = detail::one_of<DecimalMark>(intake.decimal, "--decimal",
                                              {{"point", DecimalMark::point}, {"comma", DecimalMark::comma}});
    csv.marks = intake.marks;
    csv.dates = detail::one_of<DateOrder>(
        intake.date_format, "--date-format",
        {{"ymd", DateOrder::year_first}, {"mdy", DateOrder::month_first}, {"dmy", DateOrder::day_first}});
    csv.rows = intake.as_is ? RowPolicy::as_they_stand : intake.strict ? RowPolicy::strict : RowPolicy::repair;
    csv.series = intake.series;
    if (!intake.value.empty()) {
        csv.value = intake.value;
    }
    return csv;
}

/// All of the options as one text: two are the same where the texts are.
inline std::string intake_text(const IntakeOptions& intake) {
    std::string text = std::string(intake.strict ? "strict" : "") + (intake.as_is ? "as-is" : "");
    const auto add = [&](const std::string& part) { text += "," + std::to_string(part.size()) + ":" + part; };
    for (const std::string* part :
         {&intake.timestamp, &intake.separator, &intake.decimal, &intake.date_format, &intake.header, &intake.value}) {
        add(*part);
    }
    for (const std::vector<std::string>* list : {&intake.gaps, &intake.series}) {
        add(std::to_string(list->size()));
        for (const std::string& part : *list) {
            add(part);
        }
    }
    return text;
}

/// Refuses what cannot be, before any input is read. Throws `Error(invalid_argument)`.
inline void check_intake(const IntakeOptions& intake) {
    csv_options(intake);
    if (intake.strict && intake.as_is) {
        detail::reject("--strict and --as-is contradict each other; leave one out.");
    }
}

}  // namespace examples
