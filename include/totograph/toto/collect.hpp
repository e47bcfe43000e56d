// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
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

/// From the state `forecast`, `[batch, samples, variates, steps, patch_size]`, to `[batch, variates, horizon, samples]`
/// without the padding. `result` has room for a request that fills the bucket.
inline Forecast collect_forecast(const float* values, const ForecastSizes& sizes, const Bucket& request,
                                 std::span<float> result) noexcept {
    const Index samples = std::max<Index>(1, request.samples);
    const Index horizon = sizes.steps * sizes.patch_size;
    std::size_t to = 0;
    for (Index b = 0; b < request.batch; ++b) {
        for (Index v = 0; v < request.variates; ++v) {
            for (Index step = 0; step < request.horizon; ++step) {
                for (Index s = 0; s < samples; ++s) {
                    result[to++] = values[((b * sizes.samples + s) * sizes.variates + v) * horizon + step];
                }
            }
        }
    }
    return {result.first(to), request.batch, request.variates, request.horizon, request.samples};
}

}  // namespace totograph::toto
