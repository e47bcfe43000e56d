// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/io/text.hpp>

namespace totograph::serve {

/// A Markdown table whose columns stand in line when it is read as plain text, too. The first column is flush left, or
/// all of them, when they hold words.
class MarkdownTable {
public:
    enum class Holds : bool { numbers, words };

    explicit MarkdownTable(std::vector<std::string> titles, Holds holds = Holds::numbers)
        : rows_{std::move(titles)}, holds_(holds) {}

    /// A cell for each column.
    void add_row(std::vector<std::string> cells) {
        for (std::string& cell : cells) {
            cell = escaped(cell);
        }
        rows_.push_back(std::move(cells));
    }

    [[nodiscard]] std::string text() const {
        std::vector<std::size_t> widths(rows_.front().size(), 3);
        for (const auto& row : rows_) {
            for (std::size_t column = 0; column < row.size(); ++column) {
                widths[column] = std::max(widths[column], width(row[column]));
            }
        }
        std::string result = line(rows_.front(), widths) + "|";
        for (std::size_t column = 0; column < widths.size(); ++column) {
            const std::string dashes(widths[column], '-');
            result += is_left(column) ? ":" + dashes + "-|" : "-" + dashes + ":|";
        }
        result += "\n";
        for (std::size_t row = 1; row < rows_.size(); ++row) {
            result += line(rows_[row], widths);
        }
        return result;
    }

private:
    /// A cell cannot end its column or its line, nor steer a terminal.
    static std::string escaped(std::string_view cell) {
        std::string result;
        for (const char character : io::printable(cell, io::longest_quote)) {
            result += character == '|' ? "\\|" : std::string(1, character);
        }
        return result;
    }

    /// Characters of UTF-8.
    static std::size_t width(std::string_view cell) {
        return static_cast<std::size_t>(std::count_if(cell.begin(), cell.end(), [](char character) {
            return (static_cast<unsigned char>(character) & 0xC0U) != 0x80U;
        }));
    }

    [[nodiscard]] bool is_left(std::size_t column) const { return column == 0 || holds_ == Holds::words; }

    [[nodiscard]] std::string line(const std::vector<std::string>& cells,
                                   const std::vector<std::size_t>& widths) const {
        std::string result;
        for (std::size_t column = 0; column < cells.size(); ++column) {
            const std::string blanks(widths[column] - width(cells[column]), ' ');
            result += "| " + (is_left(column) ? cells[column] + blanks : blanks + cells[column]) + " ";
        }
        return result + "|\n";
    }

    std::vector<std::vector<std::string>> rows_;
    Holds holds_;
};

}  // namespace totograph::serve
