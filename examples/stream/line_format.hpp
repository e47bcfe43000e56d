// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <totograph/io/csv/digits.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/records.hpp>

#include "../intake/options.hpp"
#include "options.hpp"

namespace examples {

/// The fields of a line.
using LineRecord = std::vector<totograph::io::CsvField>;

/// The fields of a line, its numbers and times in digits of ASCII. Throws `Error` when its quotes do not match, or when
/// it holds a NUL byte.
inline LineRecord split_line(std::string_view line, char separator) {
    LineRecord record;
    if (!totograph::io::CsvRecords(line, "standard input", separator).next(record)) {
        record.emplace_back();  // an empty line is one empty field
    }
    totograph::io::use_ascii_digits(record);
    return record;
}

/// Drops blank fields behind so many, for rows often end with separators.
inline void fit_record(LineRecord& record, std::size_t width) {
    while (record.size() > width && record.back().text.empty()) {
        record.pop_back();
    }
}

/// Whether a line holds nothing at all, not even a separator.
inline bool is_blank_record(const LineRecord& record) {
    return record.size() == 1 && record.front().text.empty() && !record.front().is_quoted;
}

/// How the lines of a stream are written: as the command line says, and as the first lines show.
struct LineFormat {
    const Options& options;
    totograph::io::CsvOptions csv;
    totograph::io::GapWords gaps;
    std::optional<char> separator;  ///< As the first lines tell.

    /// `given` must outlive this object.
    explicit LineFormat(const Options& given)
        : options(given), csv(csv_options(given.intake, given.columns)), gaps(given.intake.gaps) {}

    [[nodiscard]] char used_separator() const { return csv.separator.value_or(separator.value_or(',')); }

    /// The fields of a line. Throws `Error` when its quotes do not match, or when it holds a NUL byte.
    [[nodiscard]] LineRecord split(std::string_view line) const { return split_line(line, used_separator()); }

    [[nodiscard]] totograph::io::CellKind kind_of(std::string_view field) const {
        return totograph::io::kind_of_cell(field, gaps);
    }
};

}  // namespace examples
