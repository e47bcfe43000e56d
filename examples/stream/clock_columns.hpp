// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/columns.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/csv/source.hpp>
#include <totograph/io/time/clock_parts.hpp>

namespace examples {

/// The clock that the first lines of a stream show.
struct StreamClockColumns {
    totograph::io::ClockParts parts;  ///< Empty where they show none.
    std::string note;
};

namespace detail {

/// Of the first lines those that have as many fields as most have, for one that is torn says nothing about others.
inline std::string usual_lines(const std::vector<std::string>& lines, char separator) {
    std::vector<std::size_t> widths;
    std::map<std::size_t, std::size_t> counts;
    for (const std::string& line : lines) {
        std::vector<totograph::io::CsvField> record;
        try {
            totograph::io::CsvRecords(line, "standard input", separator).next(record);
        } catch (const totograph::Error&) {
            record.clear();
        }
        widths.push_back(record.size());
        counts[record.size()] += record.empty() ? 0 : 1;
    }
    std::size_t usual = 0;
    for (const auto& [width, count] : counts) {
        usual = count >= counts[usual] ? width : usual;
    }
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        text += widths[i] == usual ? lines[i] + "\n" : "";
    }
    return text;
}

}  // namespace detail

/// The clock as it would be found in a file that held these lines, a header first; nothing where they are no table.
inline std::optional<StreamClockColumns> find_clock_columns(const std::vector<std::string>& lines, char separator,
                                                            totograph::io::CsvOptions options,
                                                            const totograph::io::GapWords& gaps) {
    using namespace totograph::io;
    const std::string text = detail::usual_lines(lines, separator);
    options.separator = separator;
    options.series = {};
    options.value = {};
    try {
        totograph::io::detail::CsvSource source(text, "standard input", options, gaps);
        const std::vector<ColumnProfile> profiles = totograph::io::detail::profile_columns(source, gaps);
        const totograph::io::detail::ColumnChoice choice(source, profiles, options);
        return StreamClockColumns{choice.clock_parts(), choice.clock_note()};
    } catch (const totograph::Error&) {
        return std::nullopt;  // what is wrong with a line is told when it is read
    }
}

}  // namespace examples
