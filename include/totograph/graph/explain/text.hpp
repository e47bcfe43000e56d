// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>

namespace totograph::detail {

/// Three significant digits and a unit: 0 B, 512 B, 1.50 KiB, 12.0 MFLOP.
std::string with_unit(double value, double step, const std::array<std::string_view, 5>& units);

template <std::integral Count>
std::string bytes_text(Count bytes) {
    return with_unit(static_cast<double>(bytes), 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

inline std::string flops_text(Index flops) {
    return with_unit(static_cast<double>(flops), 1000, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"});
}

/// The shortest usual form of a number, rounded: 1, 0.5, 1e-08.
std::string number_text(double value, int digits = 4);

/// A shape without spaces: 1x7x64x768; a scalar is "scalar".
std::string shape_text(const Shape& shape);

inline std::string count_text(std::size_t count, std::string_view one, std::string_view many) {
    return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string join(const std::vector<std::string>& parts, std::string_view between);

/// Text inside an element or an attribute of HTML, or of a label that Graphviz reads as such.
std::string escape_markup(std::string_view text);

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
    [[nodiscard]] std::string text() const;

private:
    struct Row {
        std::vector<std::string> cells;
        bool is_heading;
    };
    static constexpr std::string_view gap = "  ";

    [[nodiscard]] std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

}  // namespace totograph::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/graph/explain/impl/text.hpp>
#endif
