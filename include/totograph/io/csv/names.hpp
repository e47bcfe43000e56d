// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace totograph::io {

/// Names of columns, each given once.
struct ColumnNames {
    std::vector<std::string> names;
    std::string renamed;  ///< The first one that stood there before; empty without.
    std::string new_name;
};

/// Makes names unique: an empty one becomes `column_<number>`, one that was there before gets a number behind it.
ColumnNames unique_names(std::vector<std::string> given);

/// Some names for a message: the first few in quotes, and how many others there are.
std::string name_list(const std::vector<std::string>& names);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/names.hpp>
#endif
