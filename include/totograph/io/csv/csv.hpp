// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/columns.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/series_labels.hpp>
#include <totograph/io/csv/source.hpp>
#include <totograph/io/csv/stacked_rows.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/text_file.hpp>
#include <totograph/io/time/regular_rows.hpp>

namespace totograph::io {

namespace detail {

/// Those that are known.
std::vector<std::int64_t> known_times(std::vector<std::int64_t> times);

/// An order of dates and the option that asks for it, for a sentence.
std::string order_words(DateOrder order);

/// Reads one CSV text into a table, in two passes: the first looks at all cells, so that the second knows what each
/// column is.
class CsvReader {
public:
    CsvReader(std::string_view text, std::string_view file_name, const CsvOptions& options)
        : options_(options), gaps_(options.gaps), file_name_(file_name), source_(text, file_name, options, gaps_) {}

    Table read();

private:
    void profile();

    void decide_marks(const ColumnChoice& choice);

    void read_rows(const ColumnChoice& choice);

    static std::string series_name(const CsvSource::Record& record, const ColumnChoice& choice);

    [[nodiscard]] double value_of(const CsvField& field, std::size_t position, DecimalMark mark);

    void read_times(const ColumnChoice& choice);

    /// Throws where the order of dates is given, or rows must be as they should: the clock is not what it should be.
    void refuse_unread(const std::vector<std::string>& stamps, DateOrder order) const;

    /// Throws where the day or the month is to stand first, and years do. Tells of numbers, which have no order.
    void check_order(const std::vector<std::string>& stamps, const ClockParts& parts);

    /// Columns that are the clock together have a name of all theirs, which no other column has.
    void name_clock(const ClockParts& parts);

    [[nodiscard]] DateOrder order_of(const std::vector<std::string>& stamps) const;

    void tell(const ColumnChoice& choice);

    /// Tells of few rows whose columns are named by times: their author may have meant a series a row.
    void tell_wide(const ColumnChoice& choice);

    /// Columns that may name series. More take minutes to choose from, and hardly any file has them.
    static constexpr std::size_t most_labels = 16;

    /// Many rows that share their times, told apart by text or by numbers, are not repeated rows: dropping them would
    /// lose series. Tells of fewer ones that look so.
    void refuse_long_form(const ColumnChoice& choice);

    /// The same of rows that numbers tell apart.
    void refuse_numbered(const StackedRows& rows, const ColumnChoice& choice);

    /// Throws where the file has a column that may hold the values, beside those that name the series.
    void refuse_series(const StackedRows& rows, const std::vector<std::size_t>& series);

    /// The columns of text to name the series by, with those that were asked for; none where no others tell them apart.
    std::vector<std::size_t> labels_of_series(const std::vector<std::int64_t>& times, const ColumnChoice& choice);

    /// Such as "host,metric".
    [[nodiscard]] std::string names_of(const std::vector<std::size_t>& positions) const;

    /// What columns say in each row that has a time.
    std::vector<LabelNumbers> read_labels(const std::vector<std::size_t>& positions,
                                          const std::vector<std::int64_t>& times);

    /// In long form the columns asked for are series.
    void choose_series();

    const CsvOptions& options_;
    GapWords gaps_;
    std::string file_name_;
    CsvSource source_;
    std::vector<ColumnProfile> profiles_;
    std::vector<DecimalMark> marks_;  // of the columns of values
    Table table_;
    std::vector<std::string> series_;  // of each row, in long form
    std::size_t rows_ = 0;
    std::size_t words_ = 0;
    bool uses_comma_ = false;
};

}  // namespace detail

/// Reads CSV text: fields quoted as RFC 4180 says, in UTF-8 or UTF-16, with or without a header, comments or titles
/// before it. What `options` do not tell is found out (see there). Numbers may have units, which the table keeps,
/// thousands separators, and decimal commas where the separator allows; `true` and `false` are 1 and 0; gaps become
/// NaN. Columns of text and empty ones are left out. Rows are put in the order of time, with gaps for missing ones.
/// What was decided and repaired stands in `Table::notes`.
///
/// @param file_name  the name that messages give the text.
/// @throws Error(invalid_file) that names the file, the line, and the column where there is one: what cannot be read,
///         and what could be read in two ways; with the option of the command lines that helps, where there is one.
/// @throws Error(invalid_argument) for options that ask for an unknown column, for a column twice, or for an unusable
///         separator.
Table parse_csv(std::string_view text, std::string_view file_name, const CsvOptions& options = {});

/// Reads a CSV file, which may be a pipe. Throws what `parse_csv` throws, `Error(file_not_found)` when the file cannot
/// be opened, and `Error(invalid_file)` when it is larger than `largest_csv_file`.
inline Table read_csv(const std::filesystem::path& path, const CsvOptions& options = {}) {
    return parse_csv(read_text_file(path, largest_csv_file), path.string(), options);
}

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/csv.hpp>
#endif
