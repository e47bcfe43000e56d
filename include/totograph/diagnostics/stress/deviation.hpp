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

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/levels_text.hpp>
#include <totograph/diagnostics/stress/data.hpp>
#include <totograph/diagnostics/stress/thresholds.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>

namespace totograph::serve {

/// How far forecasts are from those that they are compared with, in units of a series' scale. Sampled futures that
/// jumped (`StressThresholds::jump`) are counted, and left out of everything else.
struct Deviation {
    std::uint64_t values = 0;      ///< Values compared.
    double absolute_sum = 0;       ///< Of deviations.
    double square_sum = 0;         ///< Of their squares.
    double largest = 0;            ///< Deviation of any value.
    double worst_mae = 0;          ///< The largest mean deviation of one variate in one forecast, beyond its scatter.
    double worst_step = 0;         ///< The largest deviation of one step (`StressThresholds::worst_step`).
    double scatter_sum = 0;        ///< Of what medians of so few samples differ by anyway (`Compared::summaries`).
    std::uint64_t futures = 0;     ///< Sampled futures of one variate, compared one by one.
    std::uint64_t jumps = 0;       ///< Of these, those that drew another component, or follow one that did.
    std::uint64_t not_finite = 0;  ///< Values that are NaN or infinite on one side alone, or on both, or stand in place
                                   ///< of such (`Forecast::not_finite`).
    bool is_bitwise_equal = true;  ///< Every value has the same bits.

    [[nodiscard]] double mae() const { return values == 0 ? 0 : absolute_sum / static_cast<double>(values); }
    [[nodiscard]] double rmse() const { return values == 0 ? 0 : std::sqrt(square_sum / static_cast<double>(values)); }

    /// The mean of the scatter.
    [[nodiscard]] double scatter() const { return values == 0 ? 0 : scatter_sum / static_cast<double>(values); }

    /// Whether the values are those of the same numbers, rounded otherwise, as far as thresholds tell.
    [[nodiscard]] bool is_within(const StressThresholds& thresholds) const {
        return not_finite == 0 && mae() <= thresholds.mae + 2 * scatter() &&
               worst_mae <= thresholds.worst * thresholds.mae && worst_step <= thresholds.worst_step * thresholds.mae;
    }

    void add(const Deviation& other) {
        values += other.values;
        absolute_sum += other.absolute_sum;
        square_sum += other.square_sum;
        largest = std::max(largest, other.largest);
        worst_mae = std::max(worst_mae, other.worst_mae);
        worst_step = std::max(worst_step, other.worst_step);
        scatter_sum += other.scatter_sum;
        futures += other.futures;
        jumps += other.jumps;
        not_finite += other.not_finite;
        is_bitwise_equal = is_bitwise_equal && other.is_bitwise_equal;
    }
};

/// How far one forecast is from another one of the same request.
struct ForecastDeviation {
    std::vector<Deviation> variates;   ///< `[batch, variates]`
    std::vector<std::uint8_t> jumped;  ///< `[batch, samples]`: 1 where any variate jumped. Empty for summaries.
    std::uint64_t draws = 0;           ///< Values that were drawn, when samples were compared.
};

namespace detail {

/// Compares `[points, jumped.size()]` values of one variate, each column a sampled future, and marks those that jumped;
/// or `[points]` values when `jumped` is empty.
inline Deviation compare_variate(std::span<const float> found, std::span<const float> expected, double scale,
                                 double jump, std::span<std::uint8_t> jumped) {
    Deviation result;
    const std::size_t paths = std::max<std::size_t>(1, jumped.size());
    const std::size_t points = found.size() / paths;
    for (std::size_t path = 0; path < paths; ++path) {
        Deviation of_path;
        bool has_jumped = false;
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
            has_jumped = has_jumped || deviation > 10 * jump * (1 + std::abs(static_cast<double>(wanted)) / scale);
        }
        if (!jumped.empty() && (has_jumped || of_path.mae() > jump)) {
            ++result.jumps;
            jumped[path] = 1;
        } else {
            result.add(of_path);
        }
    }
    result.futures = jumped.size();
    return result;
}

/// The largest median, over sampled futures, of what one step deviates by; 0 for so few futures that one of them, which
/// drew another component late, would decide. `[points, paths]`, and for each path whether it does not count.
inline double worst_step_of_futures(std::span<const float> found, std::span<const float> expected,
                                    std::span<const std::uint8_t> jumped, double scale) {
    constexpr std::size_t least = 8;
    const std::size_t paths = jumped.size();
    const std::size_t points = found.size() / paths;
    std::vector<double> of_step;
    double worst = 0;
    for (std::size_t point = 0; point < points; ++point) {
        of_step.clear();
        for (std::size_t path = 0; path < paths; ++path) {
            const std::size_t at = point * paths + path;
            const double deviation = std::abs(static_cast<double>(found[at]) - static_cast<double>(expected[at]));
            if (jumped[path] == 0 && std::isfinite(deviation)) {
                of_step.push_back(deviation / scale);
            }
        }
        if (of_step.size() >= least) {
            const auto middle = of_step.begin() + static_cast<std::ptrdiff_t>(of_step.size() / 2);
            std::nth_element(of_step.begin(), middle, of_step.end());
            worst = std::max(worst, *middle);
        }
    }
    return worst;
}

/// The largest deviation of one step, `[points]`, beyond eight times what it scatters by anyway, which no step of
/// thousands does by chance; `scatter` is empty where nothing is sampled.
inline double worst_step(std::span<const float> found, std::span<const float> expected, std::span<const float> scatter,
                         double scale) {
    double worst = 0;
    for (std::size_t point = 0; point < found.size(); ++point) {
        const double deviation = std::abs(static_cast<double>(found[point]) - static_cast<double>(expected[point])) -
                                 (scatter.empty() ? 0.0 : 8 * static_cast<double>(scatter[point]));
        worst = std::isfinite(deviation) ? std::max(worst, deviation / scale) : worst;
    }
    return worst;
}

/// What of a forecast is compared, `[batch, variates, horizon, paths]`.
inline std::vector<float> compared_values(const Forecast& forecast, Compared compared) {
    const bool is_mean = forecast.sample_count() == 0 && forecast.levels().empty();
    if (compared == Compared::summaries && !is_mean) {
        return forecast.median();
    }
    return {forecast.values().begin(), forecast.values().end()};
}

/// How many values are no finite numbers where those that are compared do not show it.
inline std::uint64_t hidden_not_finite(const Forecast& forecast, Compared compared) {
    const auto values = forecast.values();
    const Index shown = compared == Compared::summaries
                            ? 0
                            : std::count_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
    return static_cast<std::uint64_t>(std::max<Index>(0, forecast.not_finite() - shown));
}

/// What the medians of two independent sets of samples differ by on average at each step, `[batch, variates, horizon]`:
/// sqrt(2) sqrt(2 / pi) sqrt(pi / 2) = 1.41 standard deviations by the root of their number, and a standard deviation
/// is 0.74 of the distance between the quartiles, were they normal.
inline std::vector<float> median_scatter(const Forecast& forecast) {
    std::vector<float> scatter = forecast.quantile(0.75);
    const std::vector<float> low = forecast.quantile(0.25);
    const auto factor = static_cast<float>(1.41 * 0.74 / std::sqrt(static_cast<double>(forecast.sample_count())));
    for (std::size_t i = 0; i < scatter.size(); ++i) {
        scatter[i] = factor * (scatter[i] - low[i]);
    }
    return scatter;
}

/// Throws `Error` (`invalid_argument`) for forecasts of different sizes or levels, or without a scale for each variate.
inline void check_comparable(const Forecast& found, const Forecast& expected, std::span<const double> scales) {
    if (found.batch() != expected.batch() || found.variates() != expected.variates() ||
        found.horizon() != expected.horizon() || found.sample_count() != expected.sample_count() ||
        !std::ranges::equal(found.levels(), expected.levels()) ||
        static_cast<std::size_t>(found.batch() * found.variates()) != scales.size()) {
        const auto sizes = [](const Forecast& forecast) {
            const Bucket bucket{.batch = forecast.batch(),
                                .variates = forecast.variates(),
                                .horizon = forecast.horizon(),
                                .samples = forecast.sample_count()};
            const bool has_levels = !forecast.levels().empty();
            return to_string(bucket) + (has_levels ? ", levels " + levels_text(forecast.levels()) : "");
        };
        throw Error(ErrorCode::invalid_argument,
                    "Two forecasts to compare have different sizes, " + sizes(found) + " and " + sizes(expected) +
                        " (whose context is not known), with " + std::to_string(scales.size()) +
                        " scales. Compare forecasts of one request.");
    }
}

}  // namespace detail

/// Compares two forecasts of one request, variate by variate. Deviations are in units of `scales` (`series_scale` of
/// the history of each of `[batch, variates]`), or of the `forecast_scale` of the expected forecast where that is
/// larger: a model has no finer resolution than its own output. Throws `Error` (`invalid_argument`) when the forecasts
/// have different sizes or levels of quantiles, or when there is not a scale for each variate.
inline ForecastDeviation compare_forecasts(const Forecast& found, const Forecast& expected,
                                           std::span<const double> scales, const StressThresholds& thresholds) {
    detail::check_comparable(found, expected, scales);
    const std::vector<float> values = detail::compared_values(found, thresholds.compared);
    const std::vector<float> wanted = detail::compared_values(expected, thresholds.compared);
    const bool is_sampled = found.sample_count() > 0;
    const auto samples =
        static_cast<std::size_t>(thresholds.compared == Compared::values ? found.sample_count() : Index{0});
    const std::vector<float> scatter = is_sampled && thresholds.compared == Compared::summaries
                                           ? detail::median_scatter(expected)
                                           : std::vector<float>();
    ForecastDeviation result;
    result.jumped.resize(static_cast<std::size_t>(found.batch()) * samples);
    result.draws = samples == 0 ? 0 : values.size();
    const std::size_t each = scales.empty() ? 0 : values.size() / scales.size();
    for (std::size_t i = 0; i < scales.size(); ++i) {
        const auto expected_values = std::span(wanted).subspan(i * each, each);
        const double scale = std::max(scales[i], forecast_scale(expected_values));
        const std::size_t series = i / static_cast<std::size_t>(found.variates());
        Deviation deviation = detail::compare_variate(std::span(values).subspan(i * each, each), expected_values, scale,
                                                      thresholds.least_jump(),
                                                      std::span(result.jumped).subspan(series * samples, samples));
        deviation.worst_mae = deviation.mae();
        const auto of_variate = scatter.empty() ? std::span<const float>() : std::span(scatter).subspan(i * each, each);
        if (samples == 0) {
            deviation.worst_step =
                detail::worst_step(std::span(values).subspan(i * each, each), expected_values, of_variate, scale);
        } else {
            deviation.worst_step = detail::worst_step_of_futures(
                std::span(values).subspan(i * each, each), expected_values,
                std::span<const std::uint8_t>(result.jumped).subspan(series * samples, samples), scale);
        }
        if (!scatter.empty()) {
            for (const float one : of_variate) {
                deviation.scatter_sum += static_cast<double>(one) / scale;
            }
            // Medians of neighbouring steps are off together, so that one variate may be off by several times that.
            deviation.worst_mae = std::max(0.0, deviation.mae() - 5 * deviation.scatter());
        }
        result.variates.push_back(deviation);
    }
    if (!result.variates.empty()) {  // which of them it was is not known
        result.variates.front().not_finite += detail::hidden_not_finite(found, thresholds.compared) +
                                              detail::hidden_not_finite(expected, thresholds.compared);
    }
    return result;
}

}  // namespace totograph::serve
