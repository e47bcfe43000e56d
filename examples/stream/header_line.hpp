// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/text_encoding.hpp>

#include "../common/checks.hpp"
#include "../common/text.hpp"
#include "line_columns.hpp"
#include "line_format.hpp"

namespace examples {

/// What the first line of a stream is.
enum class FirstLine {
    header,   ///< It names the columns.
    nothing,  ///< It is a comment or blank; the next line is the first one.
    data      ///< There is no header: it is an observation already.
};

namespace detail {

inline std::size_t place_of(const std::string& name, const std::unordered_map<std::string_view, std::size_t>& places,
                            const std::vector<std::string>& all) {
    const auto found = places.find(name);
    if (found == places.end()) {
        reject("The header has no column '" + name + "'; it has: " + totograph::io::name_list(all) + ".");
    }
    return found->second;
}

/// The columns that a first line has; their names are its fields when it is a header.
inline LineColumns named_columns(LineFormat::Record record, bool is_header, const LineFormat& format,
                                 std::vector<std::string>& notes) {
    LineColumns columns;
    std::vector<std::string> given;
    for (totograph::io::CsvField& field : record) {
        given.push_back(is_header ? std::move(field.text) : "");
    }
    columns.width = given.size();
    columns.has_index = is_header && given.front().empty();
    totograph::io::ColumnNames unique = totograph::io::unique_names(std::move(given));
    if (!unique.renamed.empty()) {
        notes.push_back("Several columns are called '" + printable(unique.renamed) +
                        "'; repeated names get a number, as '" + printable(unique.new_name) + "' did.");
    }
    if (!is_header) {
        notes.emplace_back("There is no header; the columns are called column_1 and so on.");
    }
    columns.all = std::move(unique.names);
    const std::vector<std::string>& all = columns.all;
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t place = 0; place < all.size(); ++place) {
        places.emplace(all[place], place);
    }
    if (format.csv.timestamp) {
        columns.timestamp = place_of(*format.csv.timestamp, places, all);
    }
    if (columns.timestamp && format.has_clock_of_parts()) {
        columns.take_clock(*format.clock);
        notes.push_back(format.clock->note);
    }
    if (columns.timestamp && all.size() == 1) {
        refuse_no_variates(all.front());
    }
    std::vector<std::size_t>& fields = columns.fields;
    for (const std::string& name : format.options.columns) {
        fields.push_back(place_of(name, places, all));
    }
    if (columns.timestamp && std::find(fields.begin(), fields.end(), *columns.timestamp) != fields.end()) {
        reject("The column '" + *format.csv.timestamp + "' is in --timestamp and in --columns; name it once.");
    }
    for (std::size_t place = 0; place < all.size() && format.options.columns.empty(); ++place) {
        if (!columns.is_clock(place)) {
            fields.push_back(place);
        }
    }
    return columns;
}

}  // namespace detail

/// Reads the first line of a stream into `columns`, which stay as they are when it is a comment or blank. What was
/// decided is added to `notes`. Throws `Error(invalid_file)` when it is no text, `Error(invalid_series)` when it names
/// no variate, and `Error(invalid_argument)` when it lacks a column that was asked for.
inline FirstLine read_header_line(const std::string& line, LineFormat& format, LineColumns& columns,
                                  std::vector<std::string>& notes) {
    using namespace totograph::io;
    refuse_packed(line, "standard input");
    const EncodingMark mark = encoding_of(line);
    if (mark.encoding != TextEncoding::utf8) {
        throw totograph::Error(totograph::ErrorCode::invalid_file,
                               "Standard input is UTF-16; convert it first (iconv -f utf-16 -t utf-8).");
    }
    const std::string_view text = std::string_view(line).substr(mark.length);
    const CsvLayout layout = find_layout(text, format.csv.separator ? format.csv.separator : format.separator);
    check_csv_separator(layout.separator);
    if (layout.begin == text.size()) {
        format.separator = text.starts_with("sep=") ? std::optional(layout.separator) : format.separator;
        return FirstLine::nothing;
    }
    format.separator = layout.separator;
    LineFormat::Record record;
    try {
        record = format.split(text);
    } catch (const totograph::Error&) {
        throw totograph::Error(totograph::ErrorCode::invalid_series,
                               "The first line cannot be read: its quotes do not match, or it holds a NUL byte.");
    }
    const bool is_named = is_header(record, {}, format.gaps);
    columns = detail::named_columns(std::move(record), is_named, format, notes);
    return is_named ? FirstLine::header : FirstLine::data;
}

}  // namespace examples
