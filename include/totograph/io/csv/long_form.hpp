// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/table.hpp>
#include <totograph/io/time/regular_rows.hpp>

namespace totograph::io {

/// Makes a table with a column for each series of one in long form, which has one column of values and one row for each
/// value; `series` names the series of each row. Rows of one time become one row, in the order of time; a value that is
/// missing becomes a gap; a note names series that become gaps for a good part, as others come at other times. Of
/// several values of a series at one time the first is kept, which a note tells.
///
/// `labels`, where given, is asked for an error about series that are several: with the times of the rows, for the
/// columns to name them by, such as "host,metric"; "" where no others tell them apart.
///
/// Throws `Error(invalid_file)` without a clock; where so few of the values are known that the table would be far
/// larger than the file; where at least half of a series (and two values) would be dropped though they are others than
/// those that are kept; and with the policy `strict` where any value would be dropped.
Table pivot(Table rows, const std::vector<std::string>& series, std::string_view file_name,
            RowPolicy policy = RowPolicy::repair,
            const std::function<std::string(const std::vector<std::int64_t>& times)>& labels = {});

namespace detail {

/// What the values of one series at times that have one already are.
struct RepeatedValues {
    std::size_t values = 0;  ///< Of the series, all together.
    std::size_t repeated = 0;
    std::size_t different = 0;  ///< Of those repeated the ones that are another number than the first.
    [[nodiscard]] bool are_many() const { return different > 1 && 2 * different >= values; }
};

/// Whether a series of eight values or more has none at a third or more of the rows between its first and its last.
/// @param is_known  of each row: whether the series has a row of its own there
bool is_full_of_gaps(const std::vector<bool>& is_known);

}  // namespace detail

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/long_form.hpp>
#endif
