// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "totograph/core/error.hpp"
#include "totograph/io/csv_records.hpp"
#include "totograph/io/csv_writer.hpp"
#include "totograph/io/decimal.hpp"
#include "totograph/io/table.hpp"
#include "totograph/io/text.hpp"
#include "totograph/io/text_file.hpp"

namespace totograph::io {

/// How to read a CSV file.
struct CsvOptions {
    char separator = ',';
    /// The columns of values to read, in this order; empty means all but the timestamps. Others may hold any text.
    std::vector<std::string> columns{};
    /// The column of timestamps. By default the first column, unless `columns` names it, when its first cell that is no
    /// gap is not a number; timestamps that are numbers must be named here.
    std::optional<std::string> timestamp{};
    /// Spellings of a missing value, besides an empty cell.
    std::vector<std::string> gaps{"NaN", "nan", "NAN", "NA", "N/A", "n/a", "<NA>", "null", "NULL", "Null", "None"};
};

/// The largest CSV file that is read, in bytes.
inline constexpr std::size_t largest_csv_file = std::size_t{1} << 30U;

namespace detail {

/// Reads one CSV text into a table.
class CsvReader {
public:
    CsvReader(std::string_view text, std::string_view file_name, const CsvOptions& options)
        : file_(in_quotes(file_name, 1000)), options_(options), records_(text, file_name, options.separator) {}

    Table read() {
        read_header();
        choose_columns();
        std::vector<CsvField> record;
        std::size_t blank_lines = 0;  // Ignored at the end of the text, but rows elsewhere.
        while (records_.next(record)) {
            if (record.size() == 1 && record[0].text.empty() && !record[0].is_quoted) {
                ++blank_lines;
                continue;
            }
            for (; blank_lines > 0; --blank_lines) {
                add_row({CsvField{"", false, record[0].line - blank_lines}});
            }
            add_row(record);
        }
        return finish();
    }

private:
    [[noreturn]] void fail(ErrorCode code, const std::string& what) const { throw Error(code, what); }

    [[nodiscard]] std::string at_line(std::size_t line) const {
        return "Line " + std::to_string(line) + " of " + file_;
    }

    void read_header() {
        std::vector<CsvField> record;
        const bool is_missing = !records_.next(record);
        if (is_missing) {
            fail(ErrorCode::invalid_file,
                 "The file " + file_ + " is empty; line 1 should be a header with the names of the columns.");
        }
        const bool holds_only_numbers = std::all_of(record.begin(), record.end(), [](const CsvField& field) {
            return !field.is_quoted && parse_decimal(field.text).kind != DecimalKind::text;
        });
        if (holds_only_numbers) {
            fail(ErrorCode::invalid_file, at_line(1) +
                                              " holds numbers where the header with the names of the columns"
                                              " should be. Add a header; if these are the names, quote them.");
        }
        std::unordered_set<std::string_view> taken;
        for (const CsvField& field : record) {
            const std::string position = std::to_string(taken.size() + 1);
            if (field.text.empty()) {
                fail(ErrorCode::invalid_file,
                     at_line(field.line) + " gives column " + position + " an empty name. Name every column.");
            }
            if (!taken.insert(field.text).second) {
                fail(ErrorCode::invalid_file, at_line(field.line) + " names the column " + in_quotes(field.text) +
                                                  " twice, the second time as column " + position +
                                                  ". Give each column a name of its own.");
            }
        }
        for (CsvField& field : record) {
            header_.push_back(std::move(field.text));
        }
    }

    [[nodiscard]] std::size_t position_of(const std::string& name) const {
        const auto position = std::find(header_.begin(), header_.end(), name);
        if (position == header_.end()) {
            std::string existing;
            for (const std::string& column : header_) {
                existing += (existing.empty() ? "" : ", ") + in_quotes(column);
            }
            fail(ErrorCode::invalid_argument, "The file " + file_ + " has no column " + in_quotes(name) +
                                                  ". The columns that line 1 names are: " + existing + ".");
        }
        return static_cast<std::size_t>(position - header_.begin());
    }

    void choose_columns() {
        if (options_.timestamp) {
            timestamp_ = position_of(*options_.timestamp);
        }
        for (const std::string& name : options_.columns) {
            const std::size_t position = position_of(name);
            if (std::find(selected_.begin(), selected_.end(), position) != selected_.end() || position == timestamp_) {
                fail(ErrorCode::invalid_argument,
                     "The column " + in_quotes(name) + " of " + file_ + " is asked for twice" +
                         (position == timestamp_ ? ", as values and as timestamps." : ".") + " Ask for it once.");
            }
            selected_.push_back(position);
        }
        if (options_.columns.empty()) {
            for (std::size_t position = 0; position < header_.size(); ++position) {
                if (position != timestamp_) {
                    selected_.push_back(position);
                }
            }
        }
        const bool asks_for_first =
            std::find(options_.columns.begin(), options_.columns.end(), header_[0]) != options_.columns.end();
        is_undecided_ = !options_.timestamp && !asks_for_first;
        columns_.resize(selected_.size());
    }

    [[nodiscard]] bool is_gap(std::string_view cell) const {
        return cell.empty() || std::find(options_.gaps.begin(), options_.gaps.end(), cell) != options_.gaps.end();
    }

    /// Looks at a cell of the first column to learn whether that column holds timestamps.
    void decide_timestamp(const CsvField& field) {
        timestamps_.push_back(field.text);
        const std::string_view cell = without_blanks(field.text);
        if (is_gap(cell)) {
            return;
        }
        is_undecided_ = false;
        if (parse_decimal(cell).kind != DecimalKind::text) {
            timestamps_.clear();
            return;
        }
        timestamp_ = 0;
        if (options_.columns.empty()) {  // Until now the first column was among the values, as gaps only.
            selected_.erase(selected_.begin());
            columns_.erase(columns_.begin());
        }
    }

    [[nodiscard]] double value_of(const CsvField& field, const std::string& column) const {
        const std::string_view cell = without_blanks(field.text);
        if (is_gap(cell)) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        const Decimal decimal = parse_decimal(cell);
        if (decimal.kind == DecimalKind::number) {
            return decimal.value;
        }
        const std::string where = at_line(field.line) + ", column " + in_quotes(column) + ": " + in_quotes(field.text);
        if (decimal.kind == DecimalKind::infinite) {
            fail(ErrorCode::invalid_file, where + " is infinite. Leave the cell empty for a missing value.");
        }
        if (decimal.kind == DecimalKind::overflowing) {
            fail(ErrorCode::invalid_file, where + " is beyond the range of a float, about 3.4e38. Rescale the column.");
        }
        fail(ErrorCode::invalid_file, where +
                                          " is not a number. Leave the cell empty for a missing value, or select"
                                          " the columns to read.");
    }

    void add_row(const std::vector<CsvField>& record) {
        if (record.size() != header_.size()) {
            fail(ErrorCode::invalid_file, at_line(record[0].line) + " has " + std::to_string(record.size()) +
                                              (record.size() == 1 ? " field" : " fields") + ", but the header has " +
                                              std::to_string(header_.size()) + ". Give each row as many.");
        }
        if (is_undecided_) {
            decide_timestamp(record[0]);
        } else if (timestamp_) {
            timestamps_.push_back(record[*timestamp_].text);
        }
        for (std::size_t column = 0; column < selected_.size(); ++column) {
            columns_[column].push_back(value_of(record[selected_[column]], header_[selected_[column]]));
        }
        ++rows_;
    }

    Table finish() {
        if (rows_ == 0) {
            fail(ErrorCode::invalid_file, "The file " + file_ + " has a header in line 1 but no rows below it.");
        }
        if (selected_.empty()) {
            fail(ErrorCode::invalid_file, "The file " + file_ + " has only the column of timestamps " +
                                              in_quotes(header_[*timestamp_]) + " in line 1, and none of values.");
        }
        Table table;
        if (timestamp_) {
            table.timestamp_name = header_[*timestamp_];
            table.timestamps = std::move(timestamps_);
        }
        for (const std::size_t position : selected_) {
            table.names.push_back(header_[position]);
        }
        table.columns = std::move(columns_);
        return table;
    }

    std::string file_;
    const CsvOptions& options_;
    CsvRecords records_;
    std::vector<std::string> header_;
    std::vector<std::size_t> selected_;     // Positions in the header of the columns of values.
    std::optional<std::size_t> timestamp_;  // Position in the header of the timestamps, once it is known.
    bool is_undecided_ = false;             // Whether the first column may still turn out to be timestamps.
    std::vector<std::string> timestamps_;
    std::vector<std::vector<double>> columns_;
    std::size_t rows_ = 0;
};

}  // namespace detail

/// Reads CSV text: a header, then rows of as many fields, quoted as RFC 4180 says; empty lines at the end are ignored.
/// Values are decimal numbers, with a point whatever the locale; gaps become NaN; a number too small for float becomes
/// 0.
///
/// @param file_name  the name that messages give the text.
/// @throws Error(invalid_file) that names the file, the line, and the column where there is one: ragged rows, text or
///         infinity or an overflow in place of a number, missing header or rows, empty or equal names, broken quotes,
///         NUL.
/// @throws Error(invalid_argument) for options that ask for an unknown column (all existing ones are listed), for a
///         column twice, or for an unusable separator.
inline Table parse_csv(std::string_view text, std::string_view file_name, const CsvOptions& options = {}) {
    check_csv_separator(options.separator);
    return detail::CsvReader(text, file_name, options).read();
}

/// Reads a CSV file, which may be a pipe. Throws what `parse_csv` throws, `Error(file_not_found)` when the file cannot
/// be opened, and `Error(invalid_file)` when it is larger than `largest_csv_file`.
inline Table read_csv(const std::filesystem::path& path, const CsvOptions& options = {}) {
    return parse_csv(read_text_file(path, largest_csv_file), path.string(), options);
}

}  // namespace totograph::io
