// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../common/format.hpp"
#include "../common/names_where.hpp"
#include "bounds.hpp"
#include "forecast_result.hpp"
#include "series_input.hpp"

namespace examples {

namespace detail {

/// The smallest and the largest value that is there; an empty range (low above high) when none is.
inline Range extent(const std::vector<double>& values) {
    Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (const double value : values) {
        range.low = std::min(range.low, std::isnan(value) ? range.low : value);
        range.high = std::max(range.high, std::isnan(value) ? range.high : value);
    }
    return range;
}

}  // namespace detail

/// What the user should know about bounds: series whose history lies outside of those given, and forecasts below zero
/// of series that never were.
inline std::vector<std::string> bounds_notes(const SeriesInput& input, const ForecastResult& result,
                                             const Bounds& bounds) {
    std::vector<std::string> notes;
    const std::string outside = names_where(input.targets, [&](std::size_t at) {
        const Range seen = detail::extent(input.history[at]);
        return seen.low < bounds.low || seen.high > bounds.high;
    });
    if (!outside.empty()) {
        notes.push_back("The history of " + outside +
                        " lies outside of --min and --max in places; the forecast is clipped to them all the same.");
    }
    const std::string below = names_where(input.targets, [&](std::size_t at) {
        const auto is_below = [&](const std::vector<double>& values) {
            return detail::extent(series_slice(values, static_cast<std::int64_t>(at), result.horizon)).low < 0;
        };
        const auto any_below = [&](const std::vector<QuantileValues>& quantiles) {
            return std::any_of(quantiles.begin(), quantiles.end(),
                               [&](const QuantileValues& quantile) { return is_below(quantile.values); });
        };
        return detail::extent(input.history[at]).low >= 0 && bounds.low < 0 &&
               (is_below(result.line()) || any_below(result.quantiles) || any_below(result.edges));
    });
    if (!below.empty()) {
        notes.push_back("The forecast of " + below +
                        " goes below zero, where the history never was; --min 0 clips it.");
    }
    return notes;
}

}  // namespace examples
