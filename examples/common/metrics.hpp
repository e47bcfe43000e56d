// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

// How forecasts are scored. All scores are sums over steps, so that windows are scored one by one and added up later.
namespace examples {

/// The quantiles that are scored.
inline constexpr std::array levels = {0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95};
/// Those that the quantile loss averages over: 0.1, 0.2, ..., 0.9.
inline constexpr std::array<std::size_t, 9> decile_places = {1, 2, 4, 5, 6, 7, 8, 10, 11};
inline constexpr std::size_t median_place = 6;

/// An interval between two quantiles, which should cover a share of what happens.
struct Interval {
    int percent;
    std::size_t low;   ///< Place in `levels`.
    std::size_t high;  ///< Place in `levels`.
};
inline constexpr std::array<Interval, 3> intervals = {{{50, 3, 9}, {80, 1, 11}, {90, 0, 12}}};

/// The values of all `levels` at one step.
using Quantiles = std::array<double, levels.size()>;

/// What one way to forecast scored.
struct Sums {
    double absolute_error = 0;                               ///< |truth - median|
    double quantile_loss = 0;                                ///< twice the pinball loss, averaged over the deciles
    std::array<std::int64_t, intervals.size()> inside = {};  ///< steps whose truth lies in the interval

    friend bool operator==(const Sums&, const Sums&) = default;
};

/// Adds one step: what was forecast and what came.
inline void add_step(Sums& sums, const Quantiles& quantiles, double truth) {
    sums.absolute_error += std::abs(truth - quantiles[median_place]);
    double loss = 0;
    for (const std::size_t place : decile_places) {
        const double above = truth - quantiles[place];
        loss += above >= 0 ? 2 * levels[place] * above : 2 * (levels[place] - 1) * above;
    }
    sums.quantile_loss += loss / static_cast<double>(decile_places.size());
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        sums.inside[i] += quantiles[intervals[i].low] <= truth && truth <= quantiles[intervals[i].high] ? 1 : 0;
    }
}

/// One window of one series up to one horizon.
struct Score {
    std::int64_t steps = 0;  ///< Steps whose truth is known; 0: nothing could be scored.
    double scale = 0;        ///< Mean absolute seasonal difference of the history; 0 or NaN: no MASE.
    double magnitude = 0;    ///< Sum of |truth|.
    Sums model;
    Sums naive;

    friend bool operator==(const Score&, const Score&) = default;
};

/// The mean of |value - value one season before| over the pairs of a history where both are known; NaN without any.
inline double seasonal_scale(std::span<const double> history, std::int64_t season) {
    double sum = 0;
    std::int64_t pairs = 0;
    for (auto i = static_cast<std::size_t>(season); i < history.size(); ++i) {
        const double difference = history[i] - history[i - static_cast<std::size_t>(season)];
        if (!std::isnan(difference)) {
            sum += std::abs(difference);
            ++pairs;
        }
    }
    return pairs > 0 ? sum / static_cast<double>(pairs) : std::numeric_limits<double>::quiet_NaN();
}

/// The scores of several windows in the usual terms; NaN where one is not defined.
struct Metrics {
    double mase = std::nan("");  ///< Mean absolute error in units of the history's seasonal differences.
    double crps = std::nan("");  ///< Weighted quantile loss: quantile loss in units of the truth's magnitude.
    std::array<double, intervals.size()> coverage = {std::nan(""), std::nan(""), std::nan("")};
};

/// MASE is the mean over the windows that have one; the others are sums over all windows.
inline Metrics metrics(std::span<const Score> windows, Sums Score::*way) {
    Sums total;
    double magnitude = 0;
    double scaled = 0;
    std::int64_t steps = 0;
    std::int64_t with_scale = 0;
    for (const Score& window : windows) {
        const Sums& sums = window.*way;
        if (window.steps > 0 && window.scale > 0) {
            scaled += sums.absolute_error / static_cast<double>(window.steps) / window.scale;
            ++with_scale;
        }
        total.quantile_loss += sums.quantile_loss;
        for (std::size_t i = 0; i < intervals.size(); ++i) {
            total.inside[i] += sums.inside[i];
        }
        magnitude += window.magnitude;
        steps += window.steps;
    }
    Metrics result;
    if (with_scale > 0) {
        result.mase = scaled / static_cast<double>(with_scale);
    }
    if (magnitude > 0) {
        result.crps = total.quantile_loss / magnitude;
    }
    for (std::size_t i = 0; i < intervals.size() && steps > 0; ++i) {
        result.coverage[i] = static_cast<double>(total.inside[i]) / static_cast<double>(steps);
    }
    return result;
}

/// The mean over series, each counted alike whatever its unit; one that lacks a metric is left out of that metric.
inline Metrics mean_of(const std::vector<Metrics>& series) {
    const auto mean = [&](auto value_of) {
        double sum = 0;
        std::int64_t count = 0;
        for (const Metrics& one : series) {
            if (const double value = value_of(one); !std::isnan(value)) {
                sum += value;
                ++count;
            }
        }
        return count > 0 ? sum / static_cast<double>(count) : std::nan("");
    };
    Metrics result;
    result.mase = mean([](const Metrics& one) { return one.mase; });
    result.crps = mean([](const Metrics& one) { return one.crps; });
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        result.coverage[i] = mean([i](const Metrics& one) { return one.coverage[i]; });
    }
    return result;
}

}  // namespace examples
