// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../common/checks.hpp"
#include "../common/format.hpp"
#include "../common/metrics.hpp"
#include "../common/seasonal_naive.hpp"
#include "../intake/season.hpp"
#include "forecast_result.hpp"
#include "series_input.hpp"

namespace examples {

/// How a forecast of hidden steps of one series did, beside the seasonal naive forecast of them. NaN: not defined.
struct HoldoutScore {
    std::vector<double> baseline;                            ///< [horizon], the seasonal naive forecast
    double mae = std::numeric_limits<double>::quiet_NaN();   ///< Mean absolute error of the median (or the mean).
    double mase = std::numeric_limits<double>::quiet_NaN();  ///< That in units of the history's seasonal differences.
    double baseline_mae = std::numeric_limits<double>::quiet_NaN();
    double baseline_mase = std::numeric_limits<double>::quiet_NaN();
};

/// The scores of all series of a forecast with `--holdout`; without it, `series` is empty.
struct Holdout {
    std::int64_t season = 1;  ///< The baseline is the value so many steps before; 1: the last value.
    std::vector<HoldoutScore> series;
};

/// The mean absolute error over the steps where the truth is known; NaN when it is known nowhere.
inline double mean_absolute_error(const std::vector<double>& forecast, const std::vector<double>& truth) {
    double sum = 0;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        if (std::isnan(truth[i])) {
            continue;
        }
        sum += std::abs(forecast[i] - truth[i]);
        ++count;
    }
    return sum / static_cast<double>(count);
}

/// Compares a forecast with the hidden truth of `input`; the history that it saw gives baseline and scale.
inline Holdout holdout_scores(const SeriesInput& input, const ForecastResult& result, std::int64_t season) {
    Holdout holdout{.season = season, .series = {}};
    for (std::size_t at = 0; at < input.truth.size(); ++at) {
        const std::span<const double> history(input.history[at]);
        const std::vector<double>& truth = input.truth[at];
        const SeasonalNaive naive(history, season);
        HoldoutScore score;
        for (std::size_t step = 0; step < truth.size(); ++step) {
            score.baseline.push_back(naive.at(step)[median_place]);
        }
        const double scale = seasonal_scale(history, season);
        score.mae =
            mean_absolute_error(series_slice(result.line(), static_cast<std::int64_t>(at), result.horizon), truth);
        score.baseline_mae = mean_absolute_error(score.baseline, truth);
        if (scale > 0) {  // a constant history has none
            score.mase = score.mae / scale;
            score.baseline_mase = score.baseline_mae / scale;
        }
        holdout.series.push_back(std::move(score));
    }
    return holdout;
}

/// Checks that a season asked for (0: none was) is no longer than the history, in which the baseline looks for it.
/// Throws `Error(invalid_argument)`.
inline void check_season(std::int64_t wanted, std::int64_t history_steps) {
    if (wanted > history_steps) {
        detail::reject("--season is " + count_text(wanted) + " rows, but the history has " +
                       plural(history_steps, "row") + "; use a smaller one.");
    }
}

/// The season to compare with: the one asked for, or what the timestamps suggest where the history holds two of it.
inline std::int64_t holdout_season(std::int64_t wanted, const Timeline& timeline, std::int64_t history_steps) {
    if (wanted > 0) {
        return wanted;
    }
    const std::int64_t season = season_of(timeline);
    return 2 * season <= history_steps ? season : 1;
}

/// "MAE 0.26, MASE 0.2; baseline 1.9 and 1.5": an error beside the baseline's.
inline std::string score_words(const HoldoutScore& score) {
    return "MAE " + short_number(score.mae, 3) + " (baseline " + short_number(score.baseline_mae, 3) + "), MASE " +
           short_number(score.mase, 3) + " (" + short_number(score.baseline_mase, 3) + ")";
}

}  // namespace examples
