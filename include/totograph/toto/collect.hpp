// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <totograph/core/bucket.hpp>
#include <totograph/core/forecast.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/toto/forecast_sizes.hpp>

namespace totograph::toto {

/// The elements of a result that fills the bucket.
constexpr std::size_t result_size(const ForecastSizes& sizes, const Bucket& bucket) {
    return static_cast<std::size_t>(bucket.batch * bucket.variates * bucket.horizon * sizes.samples);
}

/// Whether a value of the state `forecast` stands for what was no finite number (`nn::mark_extreme_values`).
inline bool is_marked(float value) noexcept {
    return std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(-0.0F);
}

/// From the state `forecast`, `[batch, samples, variates, steps, patch_size]`, to `[batch, variates, horizon, samples]`
/// without the padding, and with the marks of replaced values counted and taken off. `result` has room for a request
/// that fills the bucket.
inline Forecast collect_forecast(const float* values, const ForecastSizes& sizes, const Bucket& request,
                                 std::span<float> result) noexcept {
    const Index samples = std::max<Index>(1, request.samples);
    const Index horizon = sizes.steps * sizes.patch_size;
    std::size_t to = 0;
    Index not_finite = 0;
    for (Index b = 0; b < request.batch; ++b) {
        for (Index v = 0; v < request.variates; ++v) {
            for (Index step = 0; step < request.horizon; ++step) {
                for (Index s = 0; s < samples; ++s) {
                    const float value = values[((b * sizes.samples + s) * sizes.variates + v) * horizon + step];
                    not_finite += is_marked(value) ? 1 : 0;
                    result[to++] = value + 0.0F;  // takes the sign off a zero
                }
            }
        }
    }
    return {result.first(to), request.batch, request.variates, request.horizon, request.samples, not_finite};
}

}  // namespace totograph::toto
