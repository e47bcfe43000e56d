// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../common/text.hpp"
#include "../common/time_axis.hpp"
#include "figure.hpp"

namespace examples {

/// What the terminal allows.
struct TerminalStyle {
    std::size_t width = 80;
    bool colour = false;
};

namespace detail {

/// What a character cell shows, which decides its colour.
enum class Ink { none, muted, history, forecast, inner_band, outer_band, truth, strong };

inline const char* escape_of(Ink ink) {
    switch (ink) {
        case Ink::none: return "";
        case Ink::muted: return "\x1b[90m";
        case Ink::history: return "\x1b[39m";
        case Ink::forecast: return "\x1b[1;36m";
        case Ink::inner_band: return "\x1b[36m";
        case Ink::outer_band: return "\x1b[34m";
        case Ink::truth: return "\x1b[33m";
        case Ink::strong: return "\x1b[1m";
    }
    return "";
}

inline std::string inked(const std::string& text, Ink ink, bool colour) {
    return colour && ink != Ink::none && !text.empty() ? escape_of(ink) + text + "\x1b[0m" : text;
}

/// A grid of character cells: bands as shades, lines in Braille dots (2 by 4 a cell).
class Canvas {
public:
    Canvas(std::size_t columns, std::size_t rows) : columns_(columns), rows_(rows), cells_(columns * rows) {}

    void shade(std::size_t column, std::size_t row, const char* glyph, Ink ink) {
        Cell& cell = cells_[row * columns_ + column];
        cell.glyph = glyph;
        cell.ink = ink;
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

    /// One row of cells; a run of one ink is escaped once.
    [[nodiscard]] std::string row_text(std::size_t row, bool colour) const {
        std::string text;
        std::string run;
        Ink ink = Ink::none;
        for (std::size_t column = 0; column < columns_; ++column) {
            const Cell& cell = cells_[row * columns_ + column];
            if (cell.ink != ink) {
                text += inked(run, ink, colour);
                run.clear();
                ink = cell.ink;
            }
            run += glyph(cell, colour);
        }
        return text + inked(run, ink, colour);
    }

private:
    struct Cell {
        const char* glyph = " ";
        std::uint32_t dots = 0;
        Ink ink = Ink::none;
    };

    void dot(std::int64_t x, std::int64_t y, Ink ink) {
        if (x < 0 || y < 0 || x >= static_cast<std::int64_t>(2 * columns_) ||
            y >= static_cast<std::int64_t>(4 * rows_)) {
            return;
        }
        static constexpr std::array<std::array<std::uint32_t, 2>, 4> bits = {
            {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
        Cell& cell = cells_[static_cast<std::size_t>(y / 4) * columns_ + static_cast<std::size_t>(x / 2)];
        if (cell.ink != ink) {
            cell.dots = 0;  // two lines cannot share a cell in two colours
        }
        cell.ink = ink;
        cell.dots |= bits[static_cast<std::size_t>(y % 4)][static_cast<std::size_t>(x % 2)];
    }

    static std::string glyph(const Cell& cell, bool colour) {
        if (cell.dots == 0) {
            return cell.glyph;
        }
        // Without colour the truth needs a mark of its own.
        if (cell.ink == Ink::truth && !colour) {
            return "•";
        }
        const std::uint32_t code = 0x2800 + cell.dots;
        return {static_cast<char>(0xE2), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
                static_cast<char>(0x80 | (code & 0x3F))};
    }

    std::size_t columns_;
    std::size_t rows_;
    std::vector<Cell> cells_;
};

/// Draws the panels of one figure.
class TerminalDrawing {
public:
    TerminalDrawing(const Figure& figure, TerminalStyle style) : figure_(figure), style_(style) {
        width_ = std::clamp<std::size_t>(style.width, 40, 160);
        rows_ = figure.panels.size() <= 3 ? 11 : figure.panels.size() <= 8 ? 8 : 6;
        for (const Panel& panel : figure.panels) {
            views_.push_back(value_view(panel));
            ticks_.push_back(nice_ticks(views_.back().range, std::max<std::size_t>(rows_ / 2, 2)));
            for (const std::string& label : tick_labels(ticks_.back())) {
                label_width_ = std::max(label_width_, display_width(label));
            }
        }
        columns_ = width_ - std::min(label_width_ + 2, width_ / 2);
        const std::int64_t last_row = figure.first_row + figure.steps() - 1;
        time_ = time_axis(figure.timeline, figure.first_row, last_row, figure.first_row + figure.history_steps,
                          columns_ / 11);
    }

    [[nodiscard]] std::string text() const {
        std::string chart = inked(cut(figure_.title), Ink::strong, style_.colour) + "\n";
        if (!figure_.subtitle.empty()) {
            chart += wrapped(figure_.subtitle);
        }
        chart += legend() + "\n";
        for (std::size_t i = 0; i < figure_.panels.size(); ++i) {
            chart += "\n" + panel(i);
        }
        return chart + inked(std::string(label_width_ + 2, ' ') + cut(time_.caption), Ink::muted, style_.colour) + "\n";
    }

private:
    [[nodiscard]] std::string cut(const std::string& text) const { return shortened(printable(text), width_); }

    /// Muted text, broken at spaces into lines of the terminal's width.
    [[nodiscard]] std::string wrapped(const std::string& text) const {
        std::string lines;
        std::string rest = printable(text);
        while (display_width(rest) > width_) {
            std::size_t end = rest.rfind(' ', width_);
            if (end == std::string::npos || end == 0) {
                break;
            }
            lines += inked(rest.substr(0, end), Ink::muted, style_.colour) + "\n";
            rest.erase(0, end + 1);
        }
        return lines + inked(shortened(rest, width_), Ink::muted, style_.colour) + "\n";
    }

    [[nodiscard]] std::string legend() const {
        std::string text = inked("⠒⠒", Ink::history, style_.colour) + " observed  " +
                           inked("⠒⠒", Ink::forecast, style_.colour) + " " + figure_.line_name;
        if (figure_.has_truth()) {
            text += "  " + inked(style_.colour ? "⠒⠒" : "••", Ink::truth, style_.colour) + " truth";
        }
        if (figure_.panels.empty()) {
            return text;
        }
        const std::vector<Band>& bands = figure_.panels.front().bands;
        for (std::size_t index = bands.size(); index-- > 0;) {
            const Band& band = bands[index];
            const bool inner = band.percent <= 50;
            text += "  " + inked(inner ? "▒▒" : "░░", inner ? Ink::inner_band : Ink::outer_band, style_.colour) + " " +
                    std::to_string(band.percent) + "%";
        }
        return text;
    }

    [[nodiscard]] double step_position(std::int64_t step) const {
        return (static_cast<double>(step) + 0.5) / static_cast<double>(std::max<std::int64_t>(figure_.steps(), 1));
    }
    [[nodiscard]] std::int64_t dot_column(std::int64_t step) const {
        return static_cast<std::int64_t>(step_position(step) * static_cast<double>(2 * columns_));
    }
    [[nodiscard]] std::int64_t dot_row(const Range& range, double value) const {
        const double share = (range.high - value) / range.width();
        return std::llround(std::clamp(share, -1.0, 2.0) * static_cast<double>(4 * rows_ - 1));
    }

    [[nodiscard]] std::string panel(std::size_t index) const {
        const Panel& data = figure_.panels[index];
        const Range& range = views_[index].range;
        Canvas canvas(columns_, rows_);
        const std::size_t start = start_column();
        for (std::size_t row = 0; row < rows_ && start < columns_; ++row) {
            canvas.shade(start, row, "┊", Ink::muted);
        }
        for (const Band& band : data.bands) {
            draw_band(canvas, range, band);
        }
        draw_line(canvas, range, data.history, 0, Ink::history);
        draw_line(canvas, range, data.line, figure_.history_steps, Ink::forecast);
        draw_line(canvas, range, data.truth, figure_.history_steps, Ink::truth);

        std::vector<std::string> labels(rows_);
        const std::vector<std::string> tick_texts = tick_labels(ticks_[index]);
        for (std::size_t i = 0; i < tick_texts.size(); ++i) {
            const std::int64_t row = dot_row(range, ticks_[index][i]) / 4;
            if (row >= 0 && row < static_cast<std::int64_t>(rows_)) {
                labels[static_cast<std::size_t>(row)] = tick_texts[i];
            }
        }
        std::string text = heading(data, views_[index].band_cut) + "\n";
        for (std::size_t row = 0; row < rows_; ++row) {
            const std::string axis = pad_left(labels[row], label_width_) + (labels[row].empty() ? " │" : " ┤");
            text += inked(axis, Ink::muted, style_.colour) + canvas.row_text(row, style_.colour) + "\n";
        }
        return text + time_labels();
    }

    [[nodiscard]] std::string heading(const Panel& data, bool band_cut) const {
        std::string note = printable(data.note);
        if (band_cut) {
            note += std::string(note.empty() ? "" : ", ") + "outer band cut off";
        }
        const std::size_t room = width_ - std::min(width_ / 2, display_width(note) + 2);
        std::string text = inked(shortened(printable(data.name), room), Ink::strong, style_.colour);
        if (!note.empty()) {
            text += "  " + inked(shortened(note, width_ / 2), Ink::muted, style_.colour);
        }
        return text;
    }

    /// The cell column where the forecast begins.
    [[nodiscard]] std::size_t start_column() const {
        const double share = static_cast<double>(figure_.history_steps) /
                             static_cast<double>(std::max<std::int64_t>(figure_.steps(), 1));
        return static_cast<std::size_t>(share * static_cast<double>(columns_));
    }

    void draw_line(Canvas& canvas, const Range& range, const std::vector<double>& values, std::int64_t first_step,
                   Ink ink) const {
        for (const auto& [begin, end] : finite_runs(values)) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t before = i == begin ? i : i - 1;
                canvas.line(dot_column(first_step + static_cast<std::int64_t>(before)), dot_row(range, values[before]),
                            dot_column(first_step + static_cast<std::int64_t>(i)), dot_row(range, values[i]), ink);
            }
        }
    }

    void draw_band(Canvas& canvas, const Range& range, const Band& band) const {
        const bool inner = band.percent <= 50;
        for (std::size_t column = start_column(); column < columns_; ++column) {
            const double middle = (static_cast<double>(column) + 0.5) / static_cast<double>(columns_) *
                                  static_cast<double>(figure_.steps());
            const auto step = static_cast<std::int64_t>(middle) - figure_.history_steps;
            if (step < 0 || step >= static_cast<std::int64_t>(band.low.size())) {
                continue;
            }
            const double low = band.low[static_cast<std::size_t>(step)];
            const double high = band.high[static_cast<std::size_t>(step)];
            if (!std::isfinite(low) || !std::isfinite(high)) {
                continue;
            }
            for (std::size_t row = 0; row < rows_; ++row) {
                const double centre =
                    range.high - (static_cast<double>(row) + 0.5) / static_cast<double>(rows_) * range.width();
                if (centre < low || centre > high) {
                    continue;
                }
                canvas.shade(column, row, inner ? "▒" : "░", inner ? Ink::inner_band : Ink::outer_band);
            }
        }
    }

    [[nodiscard]] std::string time_labels() const {
        std::vector<const char*> axis(columns_, "─");
        std::string labels;
        for (const TimeTick& tick : time_.ticks) {
            const double share = (tick.row - static_cast<double>(figure_.first_row) + 0.5) /
                                 static_cast<double>(std::max<std::int64_t>(figure_.steps(), 1));
            const auto column = static_cast<std::int64_t>(share * static_cast<double>(columns_));
            if (column < 0 || column >= static_cast<std::int64_t>(columns_)) {
                continue;
            }
            axis[static_cast<std::size_t>(column)] = "┬";
            const std::size_t width = display_width(tick.label);
            const std::int64_t left = std::max<std::int64_t>(column - static_cast<std::int64_t>(width / 2), 0);
            const std::size_t used = display_width(labels);
            const bool touches = used > 0 && static_cast<std::size_t>(left) < used + 1;
            if (touches || static_cast<std::size_t>(left) + width > columns_) {
                continue;
            }
            labels = pad_right(labels, static_cast<std::size_t>(left)) + tick.label;
        }
        std::string line = std::string(label_width_ + 1, ' ') + "└";
        for (const char* glyph : axis) {
            line += glyph;
        }
        return inked(line, Ink::muted, style_.colour) + "\n" +
               inked(std::string(label_width_ + 2, ' ') + labels, Ink::muted, style_.colour) + "\n";
    }

    const Figure& figure_;
    TerminalStyle style_;
    std::vector<ValueView> views_;
    std::vector<std::vector<double>> ticks_;
    TimeAxis time_;
    std::size_t width_ = 80;
    std::size_t rows_ = 8;
    std::size_t columns_ = 60;
    std::size_t label_width_ = 0;
};

}  // namespace detail

/// The figure drawn with Unicode characters, one panel below the other.
inline std::string terminal_chart(const Figure& figure, TerminalStyle style) {
    return detail::TerminalDrawing(figure, style).text();
}

}  // namespace examples
