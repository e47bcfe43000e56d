// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>

namespace totograph::detail {

/// Three significant digits and a unit: 0 B, 512 B, 1.50 KiB, 12.0 MFLOP.
inline std::string with_unit(double value, double step, const std::array<std::string_view, 5>& units) {
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

template <std::integral Count>
std::string bytes_text(Count bytes) {
    return with_unit(static_cast<double>(bytes), 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

inline std::string flops_text(Index flops) {
    return with_unit(static_cast<double>(flops), 1000, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"});
}

/// The shortest usual form of a number, rounded: 1, 0.5, 1e-08.
inline std::string number_text(double value, int digits = 4) {
    std::array<char, 32> number{};
    const int length = std::snprintf(number.data(), number.size(), "%.*g", digits, value);
    return {number.data(), static_cast<std::size_t>(length)};
}

/// A shape without spaces: 1x7x64x768; a scalar is "scalar".
inline std::string shape_text(const Shape& shape) {
    std::string text;
    for (int axis = 0; axis < shape.rank; ++axis) {
        text += (axis == 0 ? "" : "x") + std::to_string(shape[axis]);
    }
    return shape.rank == 0 ? "scalar" : text;
}

inline std::string count_text(std::size_t count, std::string_view one, std::string_view many) {
    return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

inline std::string join(const std::vector<std::string>& parts, std::string_view between) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        text += (i == 0 ? "" : std::string(between)) + parts[i];
    }
    return text;
}

/// Rows of cells in aligned columns, with headings in between that may be of any width.
class TextTable {
public:
    struct Column {
        std::string_view title;
        bool to_the_right = false;
    };

    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// A cell for each column.
    void add_row(std::vector<std::string> cells) { rows_.push_back({std::move(cells), false}); }
    void add_heading(std::string text) { rows_.push_back({{std::move(text)}, true}); }

    /// The table with a line of titles, two spaces between columns, and no spaces at the ends of lines. Columns in
    /// which every cell is empty are left out.
    [[nodiscard]] std::string text() const {
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

private:
    struct Row {
        std::vector<std::string> cells;
        bool is_heading;
    };
    static constexpr std::string_view gap = "  ";

    [[nodiscard]] std::string line(const std::vector<std::string>& cells,
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

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

}  // namespace totograph::detail
