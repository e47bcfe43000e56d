// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/split.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/source.hpp>
#include <totograph/io/csv/text_encoding.hpp>
#include <totograph/io/csv/writer.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

namespace detail {

/// What the numbers of each column but one tell of their decimal marks.
TOTOGRAPH_INLINE std::vector<MarkEvidence> marks_beside(std::size_t place, CsvSource& source, const GapWords& gaps) {
    std::vector<MarkEvidence> marks;
    for (const ColumnProfile& column : profile_columns(source, gaps)) {
        marks.push_back(column.marks);
    }
    marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(place));
    return marks;
}

}  // namespace detail

TOTOGRAPH_INLINE std::vector<CsvPart> split_csv(std::string_view text, std::string_view file_name,
                                                std::string_view column, const CsvOptions& options,
                                                std::vector<std::string>* notes) {
    const GapWords gaps(options.gaps);
    std::string decoded;
    refuse_packed(text, file_name);
    const std::string_view plain = as_utf8(text, decoded);
    refuse_markup(plain, file_name);
    detail::CsvSource source(plain, file_name, options, gaps);
    const auto found = std::find(source.names().begin(), source.names().end(), column);
    if (found == source.names().end()) {
        throw Error(ErrorCode::invalid_file,
                    "The file " + source.file() + " has no column " + in_quotes(std::string(column)) + ".");
    }
    const auto place = static_cast<std::size_t>(found - source.names().begin());
    const char separator = source.separator();
    const std::vector<MarkEvidence> marks =
        options.decimal ? std::vector<MarkEvidence>() : detail::marks_beside(place, source, gaps);
    const auto add_row = [&](std::string& to, const auto& cell_at, bool is_header) {
        bool is_first = true;
        for (std::size_t i = 0; i < source.names().size(); ++i) {
            if (i != place) {
                if (!is_first) {
                    to += separator;
                }
                const std::string_view cell = cell_at(i);
                if (cell.empty() && source.names().size() == 2) {
                    to += "\"\"";  // an empty line at the end would not be taken for a row
                } else {
                    detail::append_csv_text(to, cell, separator, is_header, gaps);
                }
                is_first = false;
            }
        }
        to += '\n';
    };
    std::vector<CsvPart> parts;
    std::unordered_map<std::string, std::size_t> places;
    source.each_row([&](const detail::CsvSource::Record& record) {
        const std::string& value = record[place].text;
        if (value.empty()) {
            throw Error(ErrorCode::invalid_file, source.at_line(record[0].line) + " has nothing in column " +
                                                     in_quotes(std::string(column)) +
                                                     ", which tells what the row is of; fill it, or leave it out.");
        }
        const auto [known, is_new] = places.try_emplace(value, parts.size());
        if (is_new) {
            parts.push_back({value, "", separator, marks});
            add_row(
                parts.back().text, [&](std::size_t i) { return std::string_view(source.names()[i]); }, true);
        }
        add_row(
            parts[known->second].text, [&](std::size_t i) { return std::string_view(record[i].text); }, false);
    });
    if (notes != nullptr) {
        *notes = source.notes();
    }
    return parts;
}

}  // namespace totograph::io
