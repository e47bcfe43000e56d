// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../common/format.hpp"
#include "../intake/timeline.hpp"

namespace examples {

/// A pair of quantiles that holds a share of the forecast's probability at each step.
struct Band {
    int percent = 50;
    std::vector<double> low;
    std::vector<double> high;
};

/// One series as it is drawn. NaN and infinity are gaps everywhere.
struct Panel {
    std::string name;
    std::string note;                ///< Shown beside the name, for example the error against the truth.
    std::vector<double> history;     ///< [history_steps]
    std::vector<double> line;        ///< [horizon], the median or the mean
    std::vector<Band> bands;         ///< widest first, each [horizon]
    std::vector<double> truth;       ///< [horizon], or empty when it is not known
    std::vector<double> baseline{};  ///< [horizon], the forecast to beat, or empty when there is nothing to compare
};

/// All that a chart shows, for the terminal and for SVG alike.
struct Figure {
    std::string title;
    std::string subtitle;
    std::string line_name = "median";  ///< What `Panel::line` is.
    std::string baseline_name;         ///< What `Panel::baseline` is.
    Timeline timeline;
    std::int64_t first_row = 0;  ///< The timeline's row of the first history step.
    std::int64_t history_steps = 0;
    std::int64_t horizon = 0;
    std::vector<Panel> panels;
    std::size_t hidden_panels = 0;  ///< Series that have no panel.

    [[nodiscard]] std::int64_t steps() const { return history_steps + horizon; }
    [[nodiscard]] bool has_truth() const {
        return std::any_of(panels.begin(), panels.end(), [](const Panel& panel) { return !panel.truth.empty(); });
    }
    [[nodiscard]] bool has_baseline() const {
        return std::any_of(panels.begin(), panels.end(), [](const Panel& panel) { return !panel.baseline.empty(); });
    }
};

/// The figure with its first panels alone, where it has very many.
inline Figure first_panels(Figure figure, std::size_t most) {
    if (figure.panels.size() > most) {
        figure.hidden_panels += figure.panels.size() - most;
        figure.panels.resize(most);
    }
    return figure;
}

/// A sentence about the series that have no panel; empty when all have.
inline std::string hidden_words(const Figure& figure) {
    if (figure.hidden_panels == 0) {
        return "";
    }
    const auto count = static_cast<std::int64_t>(figure.hidden_panels);
    return count_text(count) + " more series " + (count == 1 ? "is" : "are") + " not drawn; name others with --targets";
}

/// The values that one panel shows, and whether a band reaches out of them.
struct ValueView {
    Range range;
    bool band_cut = false;
};

namespace detail {

inline void include(Range& range, bool& any, const std::vector<double>& values) {
    for (const double value : values) {
        if (!std::isfinite(value)) {
            continue;
        }
        range.low = any ? std::min(range.low, value) : value;
        range.high = any ? std::max(range.high, value) : value;
        any = true;
    }
}

}  // namespace detail

/// The range of values that one panel shows: history, truth, line, baseline and the narrowest band in full. Wider bands
/// may widen it up to twice on each side; heavy tails beyond that are cut off, since they would flatten all else.
inline ValueView value_view(const Panel& panel) {
    Range core;
    bool any = false;
    detail::include(core, any, panel.history);
    detail::include(core, any, panel.line);
    detail::include(core, any, panel.truth);
    detail::include(core, any, panel.baseline);
    if (!panel.bands.empty()) {
        detail::include(core, any, panel.bands.back().low);
        detail::include(core, any, panel.bands.back().high);
    }
    Range whole = core;
    for (const Band& band : panel.bands) {
        detail::include(whole, any, band.low);
        detail::include(whole, any, band.high);
    }
    const Range opened = padded(core, 0);
    const Range limit{opened.low - opened.width(), opened.high + opened.width()};
    const bool cut = whole.low < limit.low || whole.high > limit.high;
    return {padded({std::max(whole.low, limit.low), std::min(whole.high, limit.high)}, 0.06), cut};
}

/// Maximal runs [begin, end) of finite values.
inline std::vector<std::pair<std::size_t, std::size_t>> finite_runs(const std::vector<double>& values) {
    std::vector<std::pair<std::size_t, std::size_t>> runs;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) {
            continue;
        }
        if (i == 0 || !std::isfinite(values[i - 1])) {
            runs.emplace_back(i, i);
        }
        runs.back().second = i + 1;
    }
    return runs;
}

}  // namespace examples
