// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/time/regular_rows.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {

/// How to read a CSV file. Whatever is not given is found out by looking at the file.
struct CsvOptions {
    /// What stands between fields: by default the one of tab, `;`, `|` and `,` that the first lines share. A blank is a
    /// run of blanks and tabs, as in tables that are aligned.
    std::optional<char> separator{};
    /// The columns of values to read, in this order; empty means all that hold numbers. Others may hold any text.
    std::vector<std::string> columns{};
    /// The column of timestamps: by default the first one of dates and times, or of numbers that are epoch times or
    /// count up in equal steps under a name like "time".
    std::optional<std::string> timestamp{};
    /// Words that mean a missing value, besides an empty cell and the usual ones ("NaN", "null", "-" and the like).
    std::vector<std::string> gaps{};
    /// Whether the first line names the columns.
    std::optional<bool> header{};
    /// What stands before the decimals: by default as the numbers of the file tell.
    std::optional<DecimalMark> decimal{};
    /// What all rows of a table (`CsvPart`) tell of the decimal marks of each column, where those that are read do not.
    std::vector<MarkEvidence> marks{};
    /// The order of dates that do not begin with their year: by default as the column tells.
    std::optional<DateOrder> dates{};
    /// What becomes of rows that are not in the order of time, repeated, or missing.
    RowPolicy rows = RowPolicy::repair;
    /// For a file in long form, with one row for each value: the columns whose text names the series. Each series
    /// becomes a column. Empty for a file that has a column for each series.
    std::vector<std::string> series{};
    /// For a file in long form: the column of values; by default the only one of numbers.
    std::optional<std::string> value{};
};

/// The largest CSV file that is read, in bytes.
inline constexpr std::size_t largest_csv_file = std::size_t{1} << 30U;

}  // namespace totograph::io
