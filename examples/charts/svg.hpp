// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "../common/svg_elements.hpp"
#include "../common/svg_style.hpp"
#include "../common/text.hpp"
#include "../common/time_axis.hpp"
#include "figure.hpp"

namespace examples {

namespace detail {

/// One panel's rectangle and its maps from steps and values to pixels.
struct PlotArea {
    double left = 0;
    double top = 0;
    double width = 0;
    double height = 0;
    double steps = 1;
    Range range;

    /// Each step is a column of the width, and is drawn at its middle.
    [[nodiscard]] double x(double step) const { return left + (step + 0.5) / steps * width; }
    [[nodiscard]] double y(double value) const { return top + (range.high - value) / range.width() * height; }
    [[nodiscard]] double right() const { return left + width; }
    [[nodiscard]] double bottom() const { return top + height; }
};

/// A line through the finite values, broken at gaps; a lone value is a dot (a stroke of no length with round caps).
inline std::string svg_path(const std::string& style, const PlotArea& area, const std::vector<double>& values,
                            std::int64_t first_step) {
    std::string data;
    for (const auto& [begin, end] : finite_runs(values)) {
        for (std::size_t i = begin; i < end; ++i) {
            const double x = area.x(static_cast<double>(first_step) + static_cast<double>(i));
            data.append(i == begin ? "M" : "L").append(pixel(x)).append(" ").append(pixel(area.y(values[i])));
        }
        if (end - begin == 1) {
            data += "h0";
        }
    }
    return data.empty() ? "" : "<path class=\"" + style + "\" d=\"" + data + "\"/>\n";
}

/// A filled band, half a step wider than its values at both ends, so that one step alone still has an area.
inline std::string svg_band(const PlotArea& area, const Band& band, std::int64_t first_step) {
    std::vector<double> both(band.low.size());
    for (std::size_t i = 0; i < both.size(); ++i) {
        both[i] = band.high[i] - band.low[i];
    }
    std::string data;
    for (const auto& [begin, end] : finite_runs(both)) {
        const auto x = [&](std::size_t i) { return area.x(static_cast<double>(first_step) + static_cast<double>(i)); };
        const double half = 0.5 / area.steps * area.width;
        const auto point = [&](double at, double value) { return pixel(at) + " " + pixel(area.y(value)); };
        data += "M" + point(x(begin) - half, band.high[begin]);
        for (std::size_t i = begin; i < end; ++i) {
            data.append("L").append(point(x(i), band.high[i]));
        }
        data += "L" + point(x(end - 1) + half, band.high[end - 1]) + "L" + point(x(end - 1) + half, band.low[end - 1]);
        for (std::size_t i = end; i-- > begin;) {
            data.append("L").append(point(x(i), band.low[i]));
        }
        data += "L" + point(x(begin) - half, band.low[begin]) + "Z";
    }
    const std::string style = band.percent <= 50 ? "band inner" : "band outer";
    return data.empty() ? "" : "<path class=\"" + style + "\" d=\"" + data + "\"/>\n";
}

/// Draws a whole figure; lays panels out in one column, or in two when there are many.
class SvgDrawing {
public:
    explicit SvgDrawing(const Figure& figure) : figure_(figure) {
        for (const Panel& panel : figure.panels) {
            views_.push_back(value_view(panel));
            ticks_.push_back(nice_ticks(views_.back().range, 5));
            for (const std::string& label : tick_labels(ticks_.back())) {
                label_width_ = std::max(label_width_, 7.0 * static_cast<double>(display_width(label)));
            }
        }
        columns_ = figure.panels.size() > 3 ? 2 : 1;
        plot_height_ = columns_ == 1 ? 190 : 124;
        legend_ = legend_entries();
        panel_width_ = (width() - 2 * margin - (columns_ - 1) * gutter) / columns_;
        plot_width_ = panel_width_ - label_width_ - 10;
        const std::int64_t last_row = figure.first_row + figure.steps() - 1;
        time_ = time_axis(figure.timeline, figure.first_row, last_row, figure.first_row + figure.history_steps,
                          static_cast<std::size_t>(plot_width_ / 75));
    }

    [[nodiscard]] std::string text() const {
        const std::size_t rows =
            (figure_.panels.size() + static_cast<std::size_t>(columns_) - 1) / static_cast<std::size_t>(columns_);
        const double top = 108 + legend_line * legend_.back().line;
        const double height = top + static_cast<double>(rows) * row_height() + 34;
        const std::string size = pixel(width()) + "\" height=\"" + pixel(height);
        std::string svg =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
            "\" viewBox=\"0 0 " + pixel(width()) + " " + pixel(height) + "\" role=\"img\">\n";
        svg += "<title>" + escape_xml(figure_.title) + "</title>\n<desc>" + escape_xml(figure_.subtitle) + "</desc>\n";
        svg += std::string("<style>\n") + svg_style + "</style>\n" + svg_rectangle("page", 0, 0, width(), height);
        svg += header();
        for (std::size_t i = 0; i < figure_.panels.size(); ++i) {
            const auto column = static_cast<double>(i % static_cast<std::size_t>(columns_));
            const std::size_t row = i / static_cast<std::size_t>(columns_);
            svg += panel(i, margin + column * (panel_width_ + gutter), top + static_cast<double>(row) * row_height());
        }
        const std::string hidden = hidden_words(figure_);
        svg += svg_text(margin, height - 18, "small", time_.caption + (hidden.empty() ? "" : " · " + hidden));
        return svg + "</svg>\n";
    }

private:
    static constexpr double margin = 32;
    static constexpr double gutter = 36;
    static constexpr double legend_line = 19;

    [[nodiscard]] double width() const { return columns_ == 1 ? 880 : 1160; }
    [[nodiscard]] double row_height() const { return plot_height_ + 66; }

    [[nodiscard]] std::string header() const {
        std::string svg = svg_text(margin, 42, "title", shortened(printable(figure_.title), 68));
        svg += svg_text(margin, 64, "subtitle", figure_.subtitle);
        return svg + legend();
    }

    /// A sample of a line or of a band with its name.
    struct LegendEntry {
        std::string style;
        std::string label;
        bool filled = false;
        double x = 0;
        double line = 0;  ///< Counted from 0.
    };

    /// The legend's entries from left to right, in as many lines as the width asks for.
    [[nodiscard]] std::vector<LegendEntry> legend_entries() const {
        std::vector<LegendEntry> entries = {{"history", "observed"}};
        if (figure_.has_truth()) {
            entries.push_back({"truth", "observed, hidden from the model"});
        }
        entries.push_back({"forecast", "forecast, " + figure_.line_name});
        if (!figure_.panels.empty()) {
            const std::vector<Band>& bands = figure_.panels.front().bands;
            for (std::size_t index = bands.size(); index-- > 0;) {
                const bool inner = bands[index].percent <= 50;
                entries.push_back({inner ? "band key-inner" : "band key-outer",
                                   std::to_string(bands[index].percent) + "% band", true});
            }
        }
        if (figure_.has_baseline()) {
            entries.push_back({"baseline", "baseline, " + figure_.baseline_name});
        }
        double x = margin;
        double line = 0;
        for (LegendEntry& entry : entries) {
            const double length = 29 + 6.6 * static_cast<double>(display_width(entry.label));
            if (x > margin && x + length > width() - margin) {
                x = margin;
                ++line;
            }
            entry.x = x;
            entry.line = line;
            x += length + 24;
        }
        return entries;
    }

    [[nodiscard]] std::string legend() const {
        std::string svg = "<g class=\"legend\">\n";
        for (const LegendEntry& entry : legend_) {
            const double y = 90 + legend_line * entry.line;
            svg += entry.filled ? svg_rectangle(entry.style, entry.x, y - 10, 22, 12)
                                : svg_line(entry.style, entry.x, y - 4, entry.x + 22, y - 4);
            svg += svg_text(entry.x + 29, y, "small", entry.label);
        }
        return svg + "</g>\n";
    }

    [[nodiscard]] std::string panel(std::size_t index, double left, double top) const {
        const Panel& data = figure_.panels[index];
        const PlotArea area{left + label_width_ + 10,
                            top + 26,
                            plot_width_,
                            plot_height_,
                            static_cast<double>(std::max<std::int64_t>(figure_.steps(), 1)),
                            views_[index].range};
        const std::string name = printable(data.name);
        std::string note = data.note;
        if (views_[index].band_cut) {
            note += std::string(note.empty() ? "" : ", ") + "outer band cut off";
        }
        const double free = panel_width_ - 6.2 * static_cast<double>(display_width(note)) - 16;
        std::string svg = "<g class=\"panel\">\n<title>" + escape_xml(name) + "</title>\n";
        svg += svg_text(left, top + 14, "name", shortened(name, static_cast<std::size_t>(std::max(free / 8.2, 8.0))));
        if (!note.empty()) {
            svg += svg_text(left + panel_width_, top + 14, "note", note);
        }
        svg += axes(index, area);
        const std::string clip = "plot-" + std::to_string(index);
        svg += "<clipPath id=\"" + clip + "\">" +
               svg_rectangle("clip", area.left, area.top - 1, area.width, area.height + 2) +
               "</clipPath>\n<g clip-path=\"url(#" + clip + ")\">\n";
        for (const Band& band : data.bands) {
            svg += svg_band(area, band, figure_.history_steps);
        }
        svg += svg_path("history", area, data.history, 0);
        svg += svg_path("baseline", area, data.baseline, figure_.history_steps);
        svg += svg_path("truth", area, data.truth, figure_.history_steps);
        svg += svg_path("forecast", area, data.line, figure_.history_steps);
        return svg + "</g>\n</g>\n";
    }

    [[nodiscard]] std::string axes(std::size_t index, const PlotArea& area) const {
        const double start = area.x(static_cast<double>(figure_.history_steps) - 0.5);
        std::string svg = svg_rectangle("future", start, area.top, area.right() - start, area.height);
        const std::vector<std::string> labels = tick_labels(ticks_[index]);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            const double y = area.y(ticks_[index][i]);
            svg += svg_line("grid", area.left, y, area.right(), y);
            svg += svg_text(area.left - 8, y + 4, "tick value", labels[i]);
        }
        double free_from = area.left - 40;
        for (const TimeTick& tick : time_.ticks) {
            const double x = area.x(tick.row - static_cast<double>(figure_.first_row));
            const double half = 3.4 * static_cast<double>(display_width(tick.label));
            if (x < area.left || x > area.right()) {
                continue;
            }
            svg += svg_line("axis", x, area.bottom(), x, area.bottom() + 4);
            if (x - half < free_from || x + half > area.right() + 24) {
                continue;
            }
            svg += svg_text(x, area.bottom() + 18, "tick time", tick.label);
            free_from = x + half + 10;
        }
        return svg + svg_line("axis", area.left, area.bottom(), area.right(), area.bottom()) +
               svg_line("start", start, area.top, start, area.bottom());
    }

    const Figure& figure_;
    std::vector<ValueView> views_;
    std::vector<std::vector<double>> ticks_;
    TimeAxis time_;
    std::vector<LegendEntry> legend_;
    int columns_ = 1;
    double label_width_ = 0;
    double plot_height_ = 0;
    double panel_width_ = 0;
    double plot_width_ = 0;
};

}  // namespace detail

/// The figure as one self-contained SVG document: one panel a series, light or dark as the viewer prefers.
inline std::string svg_document(const Figure& figure) {
    return detail::SvgDrawing(figure).text();
}

}  // namespace examples
