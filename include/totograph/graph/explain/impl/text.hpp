// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/explain/text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>

namespace totograph::detail {

TOTOGRAPH_INLINE std::string with_unit(double value, double step, const std::array<std::string_view, 5>& units) {
    std::size_t unit = 0;
    // 999.5 would be printed as 1000.
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= step;
        ++unit;
    }
    std::array<char, 32> number{};
    const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    const int length = std::snprintf(number.data(), number.size(), "%.*f", decimals, value);
    return std::string(number.data(), static_cast<std::size_t>(length)) + " " + std::string(units[unit]);
}

TOTOGRAPH_INLINE std::string number_text(double value, int digits) {
    std::array<char, 32> number{};
    const int length = std::snprintf(number.data(), number.size(), "%.*g", digits, value);
    return {number.data(), static_cast<std::size_t>(length)};
}

TOTOGRAPH_INLINE std::string shape_text(const Shape& shape) {
    std::string text;
    for (int axis = 0; axis < shape.rank; ++axis) {
        text += (axis == 0 ? "" : "x") + std::to_string(shape[axis]);
    }
    return shape.rank == 0 ? "scalar" : text;
}

TOTOGRAPH_INLINE std::string join(const std::vector<std::string>& parts, std::string_view between) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        text += (i == 0 ? "" : std::string(between)) + parts[i];
    }
    return text;
}

TOTOGRAPH_INLINE std::string escape_markup(std::string_view text) {
    std::string result;
    for (const char character : text) {
        switch (character) {
            case '&': result += "&amp;"; break;
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '"': result += "&quot;"; break;
            default: result += character;
        }
    }
    return result;
}

TOTOGRAPH_INLINE std::string TextTable::text() const {
    std::vector<std::size_t> widths(columns_.size(), 0);
    for (const Row& row : rows_) {
        for (std::size_t column = 0; !row.is_heading && column < columns_.size(); ++column) {
            widths[column] = std::max(widths[column], row.cells[column].size());
        }
    }
    std::vector<std::string> titles;
    std::size_t whole = 0;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
        titles.emplace_back(columns_[column].title);
        if (widths[column] > 0) {
            widths[column] = std::max(widths[column], titles.back().size());
            whole += widths[column] + (whole == 0 ? 0 : gap.size());
        }
    }
    std::string result = line(titles, widths) + std::string(whole, '-') + "\n";
    for (const Row& row : rows_) {
        result += row.is_heading ? row.cells.front() + "\n" : line(row.cells, widths);
    }
    return result;
}

TOTOGRAPH_INLINE std::string TextTable::line(const std::vector<std::string>& cells,
                                             const std::vector<std::size_t>& widths) const {
    std::string result;
    bool is_first = true;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
        if (widths[column] == 0) {
            continue;
        }
        const std::string padding(widths[column] - cells[column].size(), ' ');
        result += is_first ? "" : gap;
        result += columns_[column].to_the_right ? padding + cells[column] : cells[column] + padding;
        is_first = false;
    }
    result.erase(result.find_last_not_of(' ') + 1);
    return result + "\n";
}

}  // namespace totograph::detail
