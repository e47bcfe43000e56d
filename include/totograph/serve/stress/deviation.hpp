// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/bucket.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/forecast.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/serve/stress/thresholds.hpp>

namespace totograph::serve {

/// How far forecasts are from those that they are compared with, in units of the series' scale. Sampled futures that
/// jumped (`StressThresholds::jump`) are counted, and left out of everything else.
struct Deviation {
    std::uint64_t values = 0;      ///< Values compared.
    double absolute_sum = 0;       ///< Of deviations.
    double square_sum = 0;         ///< Of their squares.
    double largest = 0;            ///< Deviation of any value.
    double worst_mae = 0;          ///< The largest mean deviation of one variate in one forecast.
    std::uint64_t futures = 0;     ///< Sampled futures compared one by one.
    std::uint64_t jumps = 0;       ///< Of these, those that drew another component.
    std::uint64_t not_finite = 0;  ///< Values that are NaN or infinite on one side alone, or on both.
    bool is_bitwise_equal = true;  ///< Every value has the same bits.

    [[nodiscard]] double mae() const { return values == 0 ? 0 : absolute_sum / static_cast<double>(values); }
    [[nodiscard]] double rmse() const { return values == 0 ? 0 : std::sqrt(square_sum / static_cast<double>(values)); }

    void add(const Deviation& other) {
        values += other.values;
        absolute_sum += other.absolute_sum;
        square_sum += other.square_sum;
        largest = std::max(largest, other.largest);
        worst_mae = std::max(worst_mae, other.worst_mae);
        futures += other.futures;
        jumps += other.jumps;
        not_finite += other.not_finite;
        is_bitwise_equal = is_bitwise_equal && other.is_bitwise_equal;
    }
};

namespace detail {

/// Compares `[points, paths]` values of one variate; a path is a sampled future, and with one path there is no jump.
inline Deviation compare_variate(std::span<const float> found, std::span<const float> expected, std::size_t paths,
                                 double scale, double jump) {
    Deviation result;
    const std::size_t points = found.size() / paths;
    for (std::size_t path = 0; path < paths; ++path) {
        Deviation of_path;
        for (std::size_t point = 0; point < points; ++point) {
            const float value = found[point * paths + path];
            const float wanted = expected[point * paths + path];
            result.is_bitwise_equal =
                result.is_bitwise_equal && std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(wanted);
            if (!std::isfinite(value) || !std::isfinite(wanted)) {
                ++result.not_finite;
                continue;
            }
            const double deviation = std::abs(static_cast<double>(value) - static_cast<double>(wanted)) / scale;
            ++of_path.values;
            of_path.absolute_sum += deviation;
            of_path.square_sum += deviation * deviation;
            of_path.largest = std::max(of_path.largest, deviation);
        }
        if (paths > 1 && of_path.mae() > jump) {
            ++result.jumps;
        } else {
            result.add(of_path);
        }
    }
    result.worst_mae = result.mae();
    result.futures = paths > 1 ? paths : 0;
    return result;
}

/// What of a forecast is compared, `[batch, variates, horizon, paths]`.
inline std::vector<float> compared_values(const Forecast& forecast, Compared compared) {
    if (forecast.sample_count() == 0) {
        return forecast.mean();
    }
    if (compared == Compared::summaries) {
        return forecast.median();
    }
    return {forecast.samples().begin(), forecast.samples().end()};
}

}  // namespace detail

/// Compares two forecasts of one request, variate by variate: a result for each of `[batch, variates]`, whose scales
/// are `scales`. Throws `Error` (`invalid_argument`) when the forecasts have different sizes, or when there is not a
/// scale for each variate.
inline std::vector<Deviation> compare_forecasts(const Forecast& found, const Forecast& expected,
                                                std::span<const double> scales, const StressThresholds& thresholds) {
    if (found.batch() != expected.batch() || found.variates() != expected.variates() ||
        found.horizon() != expected.horizon() || found.sample_count() != expected.sample_count() ||
        static_cast<std::size_t>(found.batch() * found.variates()) != scales.size()) {
        const auto sizes = [](const Forecast& forecast) {
            return to_string(Bucket{.batch = forecast.batch(),
                                    .variates = forecast.variates(),
                                    .horizon = forecast.horizon(),
                                    .samples = forecast.sample_count()});
        };
        throw Error(ErrorCode::invalid_argument,
                    "Two forecasts to compare have different sizes, " + sizes(found) + " and " + sizes(expected) +
                        " (whose context is not known), with " + std::to_string(scales.size()) +
                        " scales. Compare forecasts of one request.");
    }
    const std::vector<float> values = detail::compared_values(found, thresholds.compared);
    const std::vector<float> wanted = detail::compared_values(expected, thresholds.compared);
    const std::size_t each = values.size() / scales.size();
    const std::size_t paths = thresholds.compared == Compared::values
                                  ? static_cast<std::size_t>(std::max<Index>(1, found.sample_count()))
                                  : 1;
    std::vector<Deviation> result;
    for (std::size_t i = 0; i < scales.size(); ++i) {
        result.push_back(detail::compare_variate(std::span(values).subspan(i * each, each),
                                                 std::span(wanted).subspan(i * each, each), paths, scales[i],
                                                 thresholds.jump));
    }
    return result;
}

}  // namespace totograph::serve
