// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace examples {

/// One quantile of the forecast at every step of every series.
struct QuantileValues {
    double level = 0.5;
    std::vector<double> values;  ///< [series, horizon]
};

/// What the program shows of a forecast. A model that forecasts quantiles has no mean; one that draws futures has
/// only that where none are drawn.
struct ForecastResult {
    std::int64_t series = 0;
    std::int64_t horizon = 0;
    std::int64_t samples = 0;
    std::vector<double> mean;       ///< [series, horizon], empty of a model that forecasts quantiles
    std::vector<double> median;     ///< [series, horizon], empty of a mean alone
    std::vector<double> deviation;  ///< [series, horizon], the samples' standard deviation; empty without samples
    std::vector<QuantileValues> quantiles;  ///< those that the user asked for
    /// The edges of the bands in charts, ascending: the first and the last belong together, then the next ones.
    std::vector<QuantileValues> edges;

    [[nodiscard]] std::size_t at(std::int64_t series_index, std::int64_t step) const {
        return static_cast<std::size_t>(series_index * horizon + step);
    }
    /// The middle of the forecast: the median, or the mean where there is none.
    [[nodiscard]] const std::vector<double>& line() const { return median.empty() ? mean : median; }
    [[nodiscard]] const char* line_name() const { return median.empty() ? "mean" : "median"; }
};

/// The values of one series out of a [series, horizon] array.
inline std::vector<double> series_slice(const std::vector<double>& values, std::int64_t series, std::int64_t horizon) {
    const auto begin = values.begin() + series * horizon;
    return {begin, begin + horizon};
}

}  // namespace examples
