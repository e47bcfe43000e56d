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
#include "canvas.hpp"
#include "figure.hpp"

namespace examples {

/// What the terminal allows.
struct TerminalStyle {
    std::size_t width = 80;
    Colours colours = Colours::none;
};

namespace detail {

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
        std::string chart = inked(cut(figure_.title), Ink::strong, style_.colours) + "\n";
        if (!figure_.subtitle.empty()) {
            chart += wrapped(figure_.subtitle);
        }
        chart += legend() + "\n";
        for (std::size_t i = 0; i < figure_.panels.size(); ++i) {
            chart += "\n" + panel(i);
        }
        chart += inked(std::string(label_width_ + 2, ' ') + cut(time_.caption), Ink::muted, style_.colours) + "\n";
        const std::string hidden = hidden_words(figure_);
        return hidden.empty() ? chart : chart + wrapped(hidden);
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
            lines += inked(rest.substr(0, end), Ink::muted, style_.colours) + "\n";
            rest.erase(0, end + 1);
        }
        return lines + inked(shortened(rest, width_), Ink::muted, style_.colours) + "\n";
    }

    /// A sample of each line and band with its name, in as many lines as the width asks for.
    [[nodiscard]] std::string legend() const {
        std::string lines;
        std::size_t used = 0;
        const auto entry = [&](const std::string& sample, const std::string& name) {
            const std::size_t length = display_width(name) + 3;
            const bool fits = used + 2 + length <= width_;
            lines += used == 0 ? "" : fits ? "  " : "\n";
            lines += sample + " " + shortened(name, width_ - 3);
            used = used > 0 && fits ? used + 2 + length : length;
        };
        const auto line = [&](Ink ink, const char* mark) {
            const bool marked = style_.colours == Colours::none && mark != nullptr;
            return inked(marked ? std::string(mark) + mark : "⠒⠒", ink, style_.colours);
        };
        entry(line(Ink::history, nullptr), "observed");
        if (figure_.has_truth()) {
            entry(line(Ink::truth, "•"), "truth, hidden from the model");
        }
        entry(line(Ink::forecast, nullptr), figure_.line_name);
        if (!figure_.panels.empty()) {
            const std::vector<Band>& bands = figure_.panels.front().bands;
            for (std::size_t index = bands.size(); index-- > 0;) {
                entry(band_sample(bands[index]), std::to_string(bands[index].percent) + "%");
            }
        }
        if (figure_.has_baseline()) {
            entry(line(Ink::baseline, "×"), "baseline: " + printable(figure_.baseline_name));
        }
        return lines;
    }

    static Shade shade_of(const Band& band) { return band.percent <= 50 ? Shade::inner : Shade::outer; }

    [[nodiscard]] std::string band_sample(const Band& band) const {
        if (style_.colours == Colours::none) {
            return shade_of(band) == Shade::inner ? "▒▒" : "░░";
        }
        return coloured("  ", shade_colour(shade_of(band), true, style_.colours));
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
            canvas.mark(start, row, "┊");
        }
        for (const Band& band : data.bands) {
            draw_band(canvas, range, band);
        }
        draw_line(canvas, range, data.history, 0, Ink::history);
        draw_line(canvas, range, data.baseline, figure_.history_steps, Ink::baseline);
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
            text += inked(axis, Ink::muted, style_.colours) + canvas.row_text(row, style_.colours) + "\n";
        }
        return text + time_labels();
    }

    [[nodiscard]] std::string heading(const Panel& data, bool band_cut) const {
        std::string note = printable(data.note);
        if (band_cut) {
            note += std::string(note.empty() ? "" : ", ") + "outer band cut off";
        }
        const std::size_t room = width_ - std::min(width_ / 2, display_width(note) + 2);
        const std::string name = shortened(printable(data.name), room);
        std::string text = inked(name, Ink::strong, style_.colours);
        if (!note.empty()) {
            text += "  " + inked(shortened(note, width_ - 2 - display_width(name)), Ink::muted, style_.colours);
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

    /// A half of a cell belongs to a band that covers its middle; a band that covers no middle is as thin as one half.
    void draw_band(Canvas& canvas, const Range& range, const Band& band) const {
        const auto halves = static_cast<std::int64_t>(2 * rows_);
        const auto half_at = [&](double value) {
            const double share = std::clamp((range.high - value) / range.width(), -1.0, 2.0);
            return share * static_cast<double>(halves) - 0.5;
        };
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
            auto first = static_cast<std::int64_t>(std::ceil(half_at(high)));
            auto last = static_cast<std::int64_t>(std::floor(half_at(low)));
            if (first > last) {
                first = last = std::llround((half_at(high) + half_at(low)) / 2);
            }
            for (std::int64_t half = std::max<std::int64_t>(first, 0); half <= std::min(last, halves - 1); ++half) {
                canvas.shade(column, static_cast<std::size_t>(half / 2), static_cast<std::size_t>(half % 2),
                             shade_of(band));
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
        return inked(line, Ink::muted, style_.colours) + "\n" +
               inked(std::string(label_width_ + 2, ' ') + labels, Ink::muted, style_.colours) + "\n";
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
