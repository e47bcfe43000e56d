// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>

namespace totograph {

/// Whether a value of the state `forecast` stands for what was no finite number (`nn::mark_extreme_values`).
inline bool is_marked(float value) noexcept {
    return std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(-0.0F);
}

/// From the state `forecast`, `[batch, values, variates, steps, patch_size]`, to `[batch, variates, horizon, values]`
/// without the padding, and with the marks of replaced values counted and taken off. `result` has room for a request
/// that fills the bucket.
inline Forecast collect_forecast(const float* state, const ForecastPlan& plan, const Bucket& request,
                                 std::span<float> result) noexcept {
    const ForecastSizes& sizes = plan.sizes;
    const Index values = plan.values(request.samples);
    const Index horizon = sizes.forecast_steps();
    std::size_t to = 0;
    Index not_finite = 0;
    for (Index b = 0; b < request.batch; ++b) {
        for (Index v = 0; v < request.variates; ++v) {
            for (Index step = 0; step < request.horizon; ++step) {
                for (Index i = 0; i < values; ++i) {
                    const float value = state[((b * sizes.values + i) * sizes.variates + v) * horizon + step];
                    not_finite += is_marked(value) ? 1 : 0;
                    result[to++] = value + 0.0F;  // takes the sign off a zero
                }
            }
        }
    }
    return {result.first(to), request.batch, request.variates, request.horizon,
            request.samples,  not_finite,    plan.levels};
}

}  // namespace totograph
