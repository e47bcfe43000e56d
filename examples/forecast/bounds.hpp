// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "forecast_result.hpp"

namespace examples {

/// Between which values the series are known to lie: a percentage between 0 and 100, a count above 0.
struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();

    [[nodiscard]] bool any() const { return std::isfinite(low) || std::isfinite(high); }
    /// NaN stays NaN.
    [[nodiscard]] double clip(double value) const { return value < low ? low : value > high ? high : value; }
};

namespace detail {

inline void clip(std::vector<double>& values, const Bounds& bounds) {
    for (double& value : values) {
        value = bounds.clip(value);
    }
}

}  // namespace detail

/// Clips a forecast. For quantiles this is the same as clipping the samples. For a mean it is not: one of samples must
/// have been taken of clipped ones, and only rounding can be left to clip.
inline void clip(ForecastResult& result, const Bounds& bounds) {
    for (std::vector<double>* values : {&result.mean, &result.median}) {
        detail::clip(*values, bounds);
    }
    for (std::vector<QuantileValues>* quantiles : {&result.quantiles, &result.edges}) {
        for (QuantileValues& quantile : *quantiles) {
            detail::clip(quantile.values, bounds);
        }
    }
}

}  // namespace examples
