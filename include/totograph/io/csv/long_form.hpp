// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/table.hpp>

namespace totograph::io {

/// Makes a table with a column for each series of one in long form, which has one column of values and one row for each
/// value; `series` names the series of each row. Rows of one time become one row, in the order of time; a value that is
/// missing becomes a gap. Of several values of a series at one time the first is kept, which a note tells.
///
/// Throws `Error(invalid_file)` without a clock, and where so few of the values are known that the table would be far
/// larger than the file.
Table pivot(Table rows, const std::vector<std::string>& series, std::string_view file_name);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/long_form.hpp>
#endif
