// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/writer.hpp>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/atomic_file.hpp>
#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE void append_csv_text(std::string& text, std::string_view cell, char separator, bool is_name,
                                      const GapWords& gaps) {
    // A name in quotes is a name even where it looks like a number, a gap or a time, or like a comment or a byte order
    // mark; and no other separator is found in it.
    const bool needs_quotes =
        cell.find_first_of("\"\r\n") != std::string_view::npos || cell.find(separator) != std::string_view::npos ||
        without_blanks(cell) != cell ||
        (separator == ' ' && (cell.empty() || cell.find('\t') != std::string_view::npos)) ||
        (is_name &&
         (kind_of_cell(cell, gaps) != CellKind::text || cell.find_first_of(guessed_separators) != std::string::npos ||
          std::string_view("\xef#%/").find(cell[0]) != std::string_view::npos || cell.starts_with("sep=")));
    if (!needs_quotes) {
        text += cell;
        return;
    }
    text += '"';
    for (const char character : cell) {
        text.append(character == '"' ? 2 : 1, character);
    }
    text += '"';
}

TOTOGRAPH_INLINE void check_table(const Table& table) {
    const auto refuse = [](const std::string& what) {
        throw Error(ErrorCode::invalid_argument, "The table to write " + what + ".");
    };
    if (table.columns.empty() || table.rows() == 0) {
        refuse("has no " + std::string(table.columns.empty() ? "columns" : "rows"));
    }
    if (table.names.size() != table.columns.size()) {
        refuse("has " + std::to_string(table.columns.size()) + " columns but " + std::to_string(table.names.size()) +
               " names");
    }
    if (!table.timestamps.empty() && table.timestamps.size() != table.rows()) {
        refuse("has " + std::to_string(table.timestamps.size()) + " timestamps but " + std::to_string(table.rows()) +
               " rows");
    }
    std::unordered_set<std::string_view> taken;
    const auto check_name = [&](const std::string& name) {
        if (name.empty() || !taken.insert(name).second) {
            refuse("has " + (name.empty() ? "an empty column name" : "the column name " + in_quotes(name) + " twice"));
        }
        if (name.find('\0') != std::string::npos) {
            refuse("has a NUL byte in the column name " + in_quotes(name));
        }
    };
    if (!table.timestamps.empty()) {
        check_name(table.timestamp_name);
    }
    for (const std::string& timestamp : table.timestamps) {
        if (timestamp.find('\0') != std::string::npos) {
            refuse("has a NUL byte in the timestamp " + in_quotes(timestamp));
        }
    }
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        check_name(table.names[column]);
        if (table.columns[column].size() != table.rows()) {
            refuse("has " + std::to_string(table.columns[column].size()) + " values in the column " +
                   in_quotes(table.names[column]) + " but " + std::to_string(table.rows()) + " rows");
        }
        for (const double value : table.columns[column]) {
            if (std::isinf(value)) {
                refuse("holds infinity in the column " + in_quotes(table.names[column]));
            }
        }
    }
}

}  // namespace detail

TOTOGRAPH_INLINE std::string format_csv(const Table& table, char separator) {
    check_csv_separator(separator);
    detail::check_table(table);
    const bool has_timestamps = !table.timestamps.empty();
    const GapWords gaps;
    std::string text;
    if (has_timestamps) {
        detail::append_csv_text(text, table.timestamp_name, separator, true, gaps);
        text += separator;
    }
    for (std::size_t column = 0; column < table.names.size(); ++column) {
        text.append(column == 0 ? 0 : 1, separator);
        detail::append_csv_text(text, table.names[column], separator, true, gaps);
    }
    text += '\n';
    for (std::size_t row = 0; row < table.rows(); ++row) {
        if (has_timestamps) {
            detail::append_csv_text(text, table.timestamps[row], separator, false, gaps);
            text += separator;
        }
        for (std::size_t column = 0; column < table.columns.size(); ++column) {
            text.append(column == 0 ? 0 : 1, separator);
            const double value = table.columns[column][row];
            if (!std::isnan(value)) {
                text += format_decimal(value);
            } else if (separator == ' ' || (table.columns.size() == 1 && !has_timestamps)) {
                text += "\"\"";  // A run of blanks is one, and an empty line at the end would not be taken for a row.
            }
        }
        text += '\n';
    }
    return text;
}

TOTOGRAPH_INLINE void write_csv(const std::filesystem::path& path, const Table& table, char separator) {
    const std::string text = format_csv(table, separator);
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

}  // namespace totograph::io
