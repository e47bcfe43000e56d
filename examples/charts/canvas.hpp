// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace examples {

/// How many colours a terminal can show.
enum class Colours { none, sixteen, many };

namespace detail {

/// What a line or a text in a chart is, which decides its colour.
enum class Ink { none, muted, history, forecast, truth, baseline, strong };

/// What lies behind the lines of half a character cell, ascending.
enum class Shade { none, outer, inner };

/// The colour of an ink; on a band it has to stand out of a dark blue or a dark cyan.
inline const char* foreground(Ink ink, bool on_band, Colours colours) {
    const bool many = colours == Colours::many;
    switch (ink) {
        case Ink::none: return "";
        case Ink::muted: return "90";
        case Ink::history: return "39";
        case Ink::forecast: return on_band ? "1;97" : many ? "38;5;39" : "1;36";
        case Ink::truth: return many ? "38;5;214" : on_band ? "1;93" : "33";
        case Ink::baseline: return many ? "38;5;177" : on_band ? "1;95" : "35";
        case Ink::strong: return "1";
    }
    return "";
}

/// The colour of a shade, for the upper half of a cell (drawn as a block) or for all of it (its background).
inline std::string shade_colour(Shade shade, bool is_background, Colours colours) {
    if (colours == Colours::many) {
        return std::string(is_background ? "48;5;" : "38;5;") + (shade == Shade::inner ? "31" : "24");
    }
    return std::string(is_background ? "4" : "3") + (shade == Shade::inner ? "6" : "4");
}

/// Text behind the escape sequence of its colours, and the one that ends them.
inline std::string coloured(const std::string& text, const std::string& codes) {
    return codes.empty() || text.empty() ? text : "\x1b[" + codes + "m" + text + "\x1b[0m";
}

inline std::string inked(const std::string& text, Ink ink, Colours colours) {
    return colours == Colours::none ? text : coloured(text, foreground(ink, false, colours));
}

/// A grid of character cells: bands behind, lines in Braille dots (2 by 4 a cell) before them. In colour a band is a
/// background, two steps a cell high, and lines stay whole on it; without colour it is made of shaded characters.
class Canvas {
public:
    Canvas(std::size_t columns, std::size_t rows) : columns_(columns), rows_(rows), cells_(columns * rows) {}

    /// A character that neither line nor band covers yet.
    void mark(std::size_t column, std::size_t row, const char* glyph) { cell(column, row).glyph = glyph; }

    /// Shades half a cell, the upper (0) or the lower one (1); a narrower band is drawn after a wider one.
    void shade(std::size_t column, std::size_t row, std::size_t half, Shade shade) {
        cell(column, row).shades[half] = shade;
    }

    /// A straight line between two dots; x counts dot columns, y dot rows from the top. Outside dots are left out.
    void line(std::int64_t x0, std::int64_t y0, std::int64_t x1, std::int64_t y1, Ink ink) {
        const auto length = std::max<std::int64_t>({std::abs(x1 - x0), std::abs(y1 - y0), 1});
        for (std::int64_t i = 0; i <= length; ++i) {
            const double share = static_cast<double>(i) / static_cast<double>(length);
            dot(std::llround(static_cast<double>(x0) + share * static_cast<double>(x1 - x0)),
                std::llround(static_cast<double>(y0) + share * static_cast<double>(y1 - y0)), ink);
        }
    }

    /// One row of cells; a run of one colour is escaped once.
    [[nodiscard]] std::string row_text(std::size_t row, Colours colours) const {
        std::string text;
        std::string run;
        std::string run_codes;
        for (std::size_t column = 0; column < columns_; ++column) {
            const Cell& here = cells_[row * columns_ + column];
            const std::string codes = codes_of(here, colours);
            if (codes != run_codes) {
                text += coloured(run, run_codes);
                run.clear();
                run_codes = codes;
            }
            run += glyph_of(here, colours);
        }
        return text + coloured(run, run_codes);
    }

private:
    struct Cell {
        const char* glyph = nullptr;
        std::uint32_t dots = 0;
        Ink ink = Ink::none;
        std::array<Shade, 2> shades = {Shade::none, Shade::none};

        [[nodiscard]] Shade darkest() const { return std::max(shades[0], shades[1]); }
        [[nodiscard]] bool is_split() const { return dots == 0 && shades[0] != shades[1]; }
    };

    Cell& cell(std::size_t column, std::size_t row) { return cells_[row * columns_ + column]; }

    void dot(std::int64_t x, std::int64_t y, Ink ink) {
        if (x < 0 || y < 0 || x >= static_cast<std::int64_t>(2 * columns_) ||
            y >= static_cast<std::int64_t>(4 * rows_)) {
            return;
        }
        static constexpr std::array<std::array<std::uint32_t, 2>, 4> bits = {
            {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
        Cell& here = cell(static_cast<std::size_t>(x / 2), static_cast<std::size_t>(y / 4));
        if (here.ink != ink) {
            here.dots = 0;  // two lines cannot share a cell in two colours
        }
        here.ink = ink;
        here.dots |= bits[static_cast<std::size_t>(y % 4)][static_cast<std::size_t>(x % 2)];
    }

    static std::string codes_of(const Cell& here, Colours colours) {
        if (colours == Colours::none) {
            return "";
        }
        if (here.is_split()) {
            // One half is drawn as a block, the other one is the background, if it has any.
            const bool upper = here.shades[0] != Shade::none;
            const std::string block = shade_colour(here.shades[upper ? 0 : 1], false, colours);
            return upper && here.shades[1] != Shade::none ? block + ";" + shade_colour(here.shades[1], true, colours)
                                                          : block;
        }
        const Shade behind = here.darkest();
        const Ink ink = here.dots != 0                                   ? here.ink
                        : here.glyph != nullptr && behind == Shade::none ? Ink::muted
                                                                         : Ink::none;
        std::string front = foreground(ink, behind != Shade::none, colours);
        if (behind == Shade::none) {
            return front;
        }
        return (front.empty() ? "" : front + ";") + shade_colour(behind, true, colours);
    }

    static std::string glyph_of(const Cell& here, Colours colours) {
        if (here.dots != 0) {
            // Without colour the lines need marks of their own.
            if (colours == Colours::none && (here.ink == Ink::truth || here.ink == Ink::baseline)) {
                return here.ink == Ink::truth ? "•" : "×";
            }
            const std::uint32_t code = 0x2800 + here.dots;
            return {static_cast<char>(0xE2), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
                    static_cast<char>(0x80 | (code & 0x3F))};
        }
        if (colours != Colours::none && here.is_split()) {
            return here.shades[0] != Shade::none ? "▀" : "▄";
        }
        if (here.darkest() != Shade::none) {
            return colours != Colours::none ? " " : here.darkest() == Shade::inner ? "▒" : "░";
        }
        return here.glyph != nullptr ? here.glyph : " ";
    }

    std::size_t columns_;
    std::size_t rows_;
    std::vector<Cell> cells_;
};

}  // namespace detail

}  // namespace examples
