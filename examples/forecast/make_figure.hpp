// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../charts/figure.hpp"
#include "forecast_result.hpp"
#include "holdout.hpp"
#include "series_input.hpp"

namespace examples {

/// How many steps of history a chart shows before a forecast of `horizon` steps.
inline std::int64_t history_tail(std::int64_t steps, std::int64_t horizon) {
    return std::min(steps, std::clamp<std::int64_t>(3 * horizon, 60, 1000));
}

/// Puts a forecast and the tail of its history together for drawing, with what a hold-out compares it with. Titles are
/// left to the caller.
inline Figure make_figure(const SeriesInput& input, const ForecastResult& result, const Holdout& holdout,
                          const Timeline& timeline) {
    Figure figure;
    const std::int64_t tail = history_tail(input.steps, result.horizon);
    figure.line_name = result.line_name();
    figure.baseline_name = naive_words(holdout.season);
    figure.timeline = timeline;
    figure.first_row = input.forecast_row() - tail;
    figure.history_steps = tail;
    figure.horizon = result.horizon;
    for (std::int64_t series = 0; series < result.series; ++series) {
        const auto at = static_cast<std::size_t>(series);
        Panel panel;
        panel.name = input.heading(at);
        panel.history.assign(input.history[at].end() - tail, input.history[at].end());
        panel.line = series_slice(result.line(), series, result.horizon);
        for (std::size_t low = 0, high = result.edges.size(); low + 1 < high; ++low) {
            const QuantileValues& below = result.edges[low];
            const QuantileValues& above = result.edges[--high];
            panel.bands.push_back({static_cast<int>(std::lround(100 * (above.level - below.level))),
                                   series_slice(below.values, series, result.horizon),
                                   series_slice(above.values, series, result.horizon)});
        }
        if (!holdout.series.empty()) {
            panel.truth = input.truth[at];
            panel.baseline = holdout.series[at].baseline;
            panel.note = score_words(holdout.series[at]);
        }
        figure.panels.push_back(std::move(panel));
    }
    return figure;
}

}  // namespace examples
