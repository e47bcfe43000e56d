// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "text.hpp"

namespace examples::detail {

/// Rows of equally many cells as lines, the first column flush left and the others flush right.
inline std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const std::vector<std::string>& row : rows) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], display_width(row[column]));
        }
    }
    std::string text;
    for (const std::vector<std::string>& row : rows) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            text +=
                "  " + (column == 0 ? pad_right(row[column], widths[column]) : pad_left(row[column], widths[column]));
        }
        text += "\n";
    }
    return text;
}

}  // namespace examples::detail
