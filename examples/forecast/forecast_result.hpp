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

/// What the program shows of a forecast. Without samples there is only the mean.
struct ForecastResult {
    std::int64_t series = 0;
    std::int64_t horizon = 0;
    std::int64_t samples = 0;
    std::vector<double> mean;       ///< [series, horizon]
    std::vector<double> median;     ///< [series, horizon], empty without samples
    std::vector<double> deviation;  ///< [series, horizon], the samples' standard deviation; empty without samples
    std::vector<QuantileValues> quantiles;  ///< those that the user asked for
    std::vector<QuantileValues> edges;      ///< 0.05, 0.25, 0.75, 0.95: the edges of the bands in charts

    [[nodiscard]] std::size_t at(std::int64_t series_index, std::int64_t step) const {
        return static_cast<std::size_t>(series_index * horizon + step);
    }
    /// The middle of the forecast: the median, or the mean without samples.
    [[nodiscard]] const std::vector<double>& line() const { return median.empty() ? mean : median; }
    [[nodiscard]] const char* line_name() const { return median.empty() ? "mean" : "median"; }
};

/// The values of one series out of a [series, horizon] array.
inline std::vector<double> series_slice(const std::vector<double>& values, std::int64_t series, std::int64_t horizon) {
    const auto begin = values.begin() + series * horizon;
    return {begin, begin + horizon};
}

}  // namespace examples
