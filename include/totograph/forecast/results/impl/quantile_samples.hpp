// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/results/quantile_samples.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/random.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/forecast.hpp>

namespace totograph {
namespace forecast_detail {

TOTOGRAPH_INLINE double quantile_at(std::span<const float> quantiles, std::span<const double> levels, double level) {
    std::size_t high = 1;
    while (high + 1 < levels.size() && levels[high] < level) {
        ++high;
    }
    const auto lower = static_cast<double>(quantiles[high - 1]);
    const auto upper = static_cast<double>(quantiles[high]);
    return lower + (upper - lower) * (level - levels[high - 1]) / (levels[high] - levels[high - 1]);
}

}  // namespace forecast_detail

TOTOGRAPH_INLINE std::vector<float> sample_quantiles(const Forecast& forecast, Index samples,
                                                     const QuantileDraws& draws) {
    const std::span<const double> levels = forecast.levels();
    if (levels.size() < 2 || samples < 1) {
        throw Error(ErrorCode::invalid_argument,
                    samples < 1 ? "sample_quantiles: the number of samples should be 1 or more, found " +
                                      std::to_string(samples) + "."
                                : "sample_quantiles: the forecast has no quantiles of its model; a forecast of samples "
                                  "has `samples()`.");
    }
    const Index last_sample = std::numeric_limits<std::uint32_t>::max();
    if (samples - 1 > last_sample - static_cast<Index>(draws.first_sample)) {
        throw Error(ErrorCode::invalid_argument, "sample_quantiles: samples are numbered up to " +
                                                     std::to_string(last_sample) + ", but " + std::to_string(samples) +
                                                     " from number " + std::to_string(draws.first_sample) +
                                                     " on were asked for.");
    }
    if (!forecast.is_finite()) {
        throw Error(ErrorCode::not_finite, "sample_quantiles: " + std::to_string(forecast.not_finite()) +
                                               " quantiles are no finite numbers, so nothing can be drawn from them; "
                                               "forecast series whose values are less extreme.");
    }
    std::vector<float> result;
    result.reserve(static_cast<std::size_t>(forecast.batch() * forecast.variates() * forecast.horizon() * samples));
    SampleKey key{.seed = draws.seed};
    std::size_t point = 0;
    for (Index series = 0; series < forecast.batch(); ++series) {
        key.series = draws.first_series + static_cast<std::uint32_t>(series);
        for (Index variate = 0; variate < forecast.variates(); ++variate) {
            key.variate = static_cast<std::uint32_t>(variate);
            for (Index step = 0; step < forecast.horizon(); ++step, ++point) {
                key.time = static_cast<std::uint32_t>(step);
                const auto quantiles = forecast.values().subspan(point * levels.size(), levels.size());
                for (Index sample = 0; sample < samples; ++sample) {
                    key.sample = draws.first_sample + static_cast<std::uint32_t>(sample);
                    const double level = uniform_double(random_words(key).word[0]);
                    result.push_back(static_cast<float>(forecast_detail::quantile_at(quantiles, levels, level)));
                }
            }
        }
    }
    return result;
}

}  // namespace totograph
