// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../charts/terminal_chart.hpp"
#include "../common/text.hpp"
#include "candle_figure.hpp"

namespace examples {

namespace detail {

/// Candles in a terminal: a column of cells each, two steps of height a cell. Falling bodies are filled, rising ones
/// are double lines; what is forecast stands on its band.
class CandleDrawing {
public:
    CandleDrawing(const CandlePanel& panel, TerminalStyle style, bool is_short)
        : style_(style), rows_(is_short ? 9 : 14) {
        const std::size_t width = std::clamp<std::size_t>(style.width, 40, 160);
        const std::vector<double> ticks = nice_ticks(panel.range(), rows_ / 2);
        for (const std::string& label : tick_labels(ticks)) {
            label_width_ = std::max(label_width_, display_width(label));
        }
        columns_ = width - std::min(label_width_ + 2, width / 2);
        const std::size_t ahead = std::min(panel.forecast.size(), columns_ / 2);
        panel_ = panel.newest(columns_ - ahead);
        shown_ = std::min(panel_.steps(), columns_);
        range_ = panel_.range();
    }

    [[nodiscard]] std::string text() const {
        std::vector<std::string> labels(rows_);
        const std::vector<double> ticks = nice_ticks(range_, rows_ / 2);
        const std::vector<std::string> texts = tick_labels(ticks);
        for (std::size_t i = 0; i < ticks.size(); ++i) {
            const auto row = static_cast<std::size_t>(std::max<std::int64_t>(half_row(ticks[i]), 0)) / 2;
            if (row < rows_ && display_width(texts[i]) <= label_width_) {
                labels[row] = texts[i];
            }
        }
        std::string text;
        for (std::size_t row = 0; row < rows_; ++row) {
            const std::string axis = pad_left(labels[row], label_width_) + (labels[row].empty() ? " │" : " ┤");
            text += inked(axis, Ink::muted, style_.colours);
            for (std::size_t step = 0; step < shown_; ++step) {
                text += cell(step, row);
            }
            text += "\n";
        }
        return text + inked(times(), Ink::muted, style_.colours) + "\n";
    }

private:
    /// Halves of rows from the top.
    [[nodiscard]] std::int64_t half_row(double value) const {
        const double share = (range_.high - value) / range_.width();
        return std::llround(std::clamp(share, 0.0, 1.0) * static_cast<double>(2 * rows_ - 1));
    }

    /// What a half of a cell shows: nothing, a wick, a body.
    [[nodiscard]] int part(const Candle& candle, std::int64_t half) const {
        const auto [bottom, top] = std::minmax({candle.open, candle.close});
        if (half >= half_row(top) && half <= half_row(bottom)) {
            return 2;
        }
        return half >= half_row(std::max(candle.high, top)) && half <= half_row(std::min(candle.low, bottom)) ? 1 : 0;
    }

    [[nodiscard]] std::string cell(std::size_t step, std::size_t row) const {
        const bool is_forecast = step >= panel_.history.size();
        const Candle& candle = panel_.candle(step);
        const auto upper = static_cast<std::int64_t>(2 * row);
        if (is_forecast && is_truth(step, row)) {
            return inked("•", Ink::truth, style_.colours);
        }
        const std::string glyph = glyph_of(part(candle, upper), part(candle, upper + 1), candle.falls());
        const Shade shade = is_forecast ? shade_at(step, row) : Shade::none;
        if (style_.colours == Colours::none) {
            return glyph != " " || shade == Shade::none ? glyph : shade == Shade::inner ? "▒" : "░";
        }
        std::string codes = glyph == " " ? "" : candle.falls() ? "31" : "32";
        if (shade != Shade::none) {
            codes += (codes.empty() ? "" : ";") + shade_colour(shade, true, style_.colours);
        }
        return coloured(glyph, codes);
    }

    static std::string glyph_of(int upper, int lower, bool falls) {
        if (upper == 2 || lower == 2) {
            if (falls) {
                return upper == lower ? "█" : upper == 2 ? "▀" : "▄";
            }
            return upper == lower ? "║" : upper == 2 ? "╨" : "╥";
        }
        return upper == 1 && lower == 1 ? "│" : upper == 1 ? "╵" : lower == 1 ? "╷" : " ";
    }

    [[nodiscard]] bool is_truth(std::size_t step, std::size_t row) const {
        const std::size_t ahead = step - panel_.history.size();
        return ahead < panel_.truth.size() && half_row(panel_.truth[ahead]) / 2 == static_cast<std::int64_t>(row);
    }

    [[nodiscard]] Shade shade_at(std::size_t step, std::size_t row) const {
        const std::size_t ahead = step - panel_.history.size();
        Shade result = Shade::none;
        for (const Band& band : panel_.bands) {
            if (half_row(band.high[ahead]) / 2 <= static_cast<std::int64_t>(row) &&
                half_row(band.low[ahead]) / 2 >= static_cast<std::int64_t>(row)) {
                result = band.percent <= 50 ? Shade::inner : Shade::outer;
            }
        }
        return result;
    }

    /// The first time, that of the first candle that is forecast, and the last one, where they have room.
    [[nodiscard]] std::string times() const {
        std::string line(label_width_ + 2, ' ');
        const std::size_t begin = line.size();
        const auto put = [&](std::size_t step, bool at_end) {
            const std::string& stamp = panel_.stamps[step];
            const std::size_t at = at_end ? begin + shown_ - std::min(shown_, stamp.size()) : begin + step;
            if (at >= line.size() + (line.size() == begin ? 0 : 1) && at + stamp.size() <= begin + columns_) {
                line.append(at - line.size(), ' ').append(stamp);
            }
        };
        put(0, false);
        if (!panel_.history.empty() && panel_.history.size() < shown_) {
            put(panel_.history.size(), false);
        }
        put(shown_ - 1, true);
        return line;
    }

    TerminalStyle style_;
    std::size_t rows_;
    CandlePanel panel_;
    Range range_;
    std::size_t label_width_ = 0;
    std::size_t columns_ = 0;
    std::size_t shown_ = 0;
};

}  // namespace detail

/// The figure as text: a heading, and candles for each symbol.
inline std::string candle_chart(const CandleFigure& figure, TerminalStyle style) {
    using namespace detail;
    const std::size_t width = std::clamp<std::size_t>(style.width, 40, 160);
    const auto line = [&](const std::string& text, Ink ink) {
        return inked(shortened(printable(text), width), ink, style.colours) + "\n";
    };
    std::string chart = line(figure.title, Ink::strong) + line(figure.subtitle, Ink::muted);
    chart += line(std::string("║ rises, █ falls; forecast: mean of the paths, bands of the close") +
                      (figure.has_truth() ? ", • what came" : ""),
                  Ink::muted);
    for (const CandlePanel& panel : figure.panels) {
        const std::string heading = panel.name + (panel.note.empty() ? "" : "  " + panel.note);
        chart += "\n" + line(heading, Ink::strong) + CandleDrawing(panel, style, figure.panels.size() > 1).text();
    }
    return figure.hidden_panels == 0 ? chart : chart + line(figure.hidden_words(), Ink::muted);
}

}  // namespace examples
