// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "../charts/svg.hpp"
#include "../common/svg_elements.hpp"
#include "../common/svg_style.hpp"
#include "candle_figure.hpp"

namespace examples {

namespace detail {

/// Colours of candles; everything else has those of the other charts.
inline constexpr const char* candle_style = R"(.wick { stroke: #475569; stroke-width: 1; }
.rise { fill: #0d9488; stroke: none; }
.fall { fill: #dc2626; stroke: none; }
.ahead { fill-opacity: 0.55; stroke-opacity: 0.55; }
@media (prefers-color-scheme: dark) { .wick { stroke: #cbd5e1; } .rise { fill: #2dd4bf; } .fall { fill: #f87171; } }
)";

/// Candles of one symbol in a rectangle.
inline std::string svg_candles(const CandlePanel& panel, const PlotArea& area) {
    std::string svg;
    const double half = std::max(0.3 * area.width / area.steps, 0.5);
    for (std::size_t step = 0; step < panel.steps(); ++step) {
        const Candle& candle = panel.candle(step);
        const std::string ahead = step < panel.history.size() ? "" : " ahead";
        const double x = area.x(static_cast<double>(step));
        const double top = area.y(std::max(candle.open, candle.close));
        const double bottom = area.y(std::min(candle.open, candle.close));
        svg += svg_line("wick" + ahead, x, area.y(candle.high), x, area.y(candle.low));
        svg += svg_rectangle((candle.falls() ? "fall" : "rise") + ahead, x - half, top, 2 * half,
                             std::max(bottom - top, 1.0));
    }
    return svg;
}

/// A panel with its axes. `top` is where it begins.
inline std::string svg_candle_panel(const CandlePanel& panel, double top, double width, double height) {
    constexpr double margin = 32;
    const Range range = panel.range();
    const std::vector<double> ticks = nice_ticks(range, 5);
    const std::vector<std::string> labels = tick_labels(ticks);
    double label_width = 0;
    for (const std::string& label : labels) {
        label_width = std::max(label_width, 7.0 * static_cast<double>(display_width(label)));
    }
    const double left = margin + label_width + 10;
    const PlotArea area{left, top + 26, width - margin - left, height, static_cast<double>(panel.steps()), range};
    std::string svg = "<g class=\"panel\">\n" + svg_text(margin, top + 14, "name", printable(panel.name));
    svg += panel.note.empty() ? "" : svg_text(width - margin, top + 14, "note", panel.note);
    const double start = area.x(static_cast<double>(panel.history.size()) - 0.5);
    svg += svg_rectangle("future", start, area.top, area.right() - start, area.height);
    for (std::size_t i = 0; i < ticks.size(); ++i) {
        svg += svg_line("grid", area.left, area.y(ticks[i]), area.right(), area.y(ticks[i]));
        svg += svg_text(area.left - 8, area.y(ticks[i]) + 4, "tick value", labels[i]);
    }
    for (const Band& band : panel.bands) {
        svg += svg_band(area, band, static_cast<std::int64_t>(panel.history.size()));
    }
    svg += svg_candles(panel, area);
    svg += svg_path("truth", area, panel.truth, static_cast<std::int64_t>(panel.history.size()));
    svg += svg_line("start", start, area.top, start, area.bottom());
    svg += svg_line("axis", area.left, area.bottom(), area.right(), area.bottom());
    const std::size_t every = std::max<std::size_t>(panel.steps() / 6, 1);
    for (std::size_t step = every / 2; step < panel.steps(); step += every) {
        svg += svg_text(area.x(static_cast<double>(step)), area.bottom() + 18, "tick time", panel.stamps[step]);
    }
    return svg + "</g>\n";
}

}  // namespace detail

/// The figure as an SVG file: a panel for each symbol, one below the other.
inline std::string candle_svg(const CandleFigure& figure) {
    using namespace detail;
    constexpr double width = 960;
    constexpr std::size_t most_history = 120;
    const double plot = figure.panels.size() > 1 ? 190 : 320;
    const double row = plot + 66;
    const double height = 118 + row * static_cast<double>(figure.panels.size());
    const std::string size = pixel(width) + "\" height=\"" + pixel(height);
    std::string svg = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                      size + "\" viewBox=\"0 0 " + pixel(width) + " " + pixel(height) + "\" role=\"img\">\n";
    svg += "<title>" + escape_xml(figure.title) + "</title>\n<desc>" + escape_xml(figure.subtitle) + "</desc>\n";
    svg +=
        std::string("<style>\n") + svg_style + candle_style + "</style>\n" + svg_rectangle("page", 0, 0, width, height);
    svg += svg_text(32, 42, "title", shortened(printable(figure.title), 68));
    svg += svg_text(32, 64, "subtitle", figure.subtitle);
    svg += svg_text(32, 86, "small",
                    std::string("Green rises, red falls. Forecast: mean of the paths; bands of 50% and 80% of the "
                                "closes") +
                        (figure.has_truth() ? "; orange: the closes that came" : "") +
                        (figure.hidden_panels == 0 ? "" : ". " + figure.hidden_words()));
    double top = 102;
    for (const CandlePanel& panel : figure.panels) {
        svg += svg_candle_panel(panel.newest(most_history), top, width, plot);
        top += row;
    }
    return svg + "</svg>\n";
}

}  // namespace examples
