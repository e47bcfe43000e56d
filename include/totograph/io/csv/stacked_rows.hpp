// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <totograph/io/csv/series_labels.hpp>
#include <totograph/io/csv/table.hpp>

namespace totograph::io {

/// What the times of a table's rows, in the order of the file, say of whether several series stand in it.
struct StackedRows {
    std::size_t rows = 0;       ///< Those that have a time.
    std::size_t times = 0;      ///< How many there are.
    std::size_t repeated = 0;   ///< How many of the times have several rows.
    std::size_t different = 0;  ///< Rows with the time of an earlier one, and another value where both have one.
    /// Whether rows of other values come together, as a second series does and rows that were written twice do not:
    /// below the others, in a stretch of which they are half at least, or row by row between them, all along a stretch.
    bool are_stretches = false;

    /// Whether so many rows repeat a time as only further series do, where something tells them apart. A time or two,
    /// of more than twice as many, have rows that were corrected.
    [[nodiscard]] bool are_many() const noexcept {
        return 5 * (rows - times) >= rows && (repeated > 2 || 2 * repeated >= times);
    }
};

/// Looks at a table whose clock is known.
StackedRows stacked_rows(const Table& table);

/// The first column that may number the series, of columns of whole numbers: it says few things, also in the rows that
/// share their time with others, tells these apart, and has its numbers in one order at each time, each of them at
/// times that are evenly far apart for the most part. Nothing where there is none.
std::optional<std::size_t> series_number(const std::vector<std::int64_t>& times,
                                         const std::vector<LabelNumbers>& columns);

/// The first column of a table that may hold the values of series: it changes within one of them, and does not count
/// the rows of the file, as keys of databases do. Where there is none, the first one; nothing without any.
/// @param names  the columns that name the series, which are not their values
/// @param labels  what these say in each row that has a time
std::optional<std::size_t> likely_value(const Table& table, const std::vector<std::string>& names,
                                        const std::vector<LabelNumbers>& labels);

namespace detail {

/// How many rows that lie together are a series, rather than rows that were written again.
inline constexpr std::size_t least_stretch = 8;

/// Whether rows that differ from an earlier one of their time are half of a stretch in which times rise, or fall.
bool has_series_below(const std::vector<std::int64_t>& times, const std::vector<bool>& is_different);

/// Whether rows that differ stand behind another one of their time, and as many at each time of a few stretches.
bool has_series_between(const std::vector<std::int64_t>& times, const std::vector<bool>& is_different);

/// Whether three of four places are equally far from the one before.
bool come_regularly(const std::vector<std::size_t>& places);

bool numbers_series(const std::vector<std::int64_t>& times, const LabelNumbers& numbers);

/// Whether whole numbers rise, or fall, from each row to the next.
bool counts_rows(const std::vector<double>& column);

/// Whether a column has two values in one series.
bool changes_within(const std::vector<double>& column, const LabelNumbers& series);

}  // namespace detail

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/stacked_rows.hpp>
#endif
