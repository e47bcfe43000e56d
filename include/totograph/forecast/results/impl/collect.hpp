// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/results/collect.hpp>

#include <cstddef>
#include <span>

#include <totograph/core/inline.hpp>
#include <totograph/core/not_finite.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>

namespace totograph {

TOTOGRAPH_INLINE Forecast collect_forecast(const float* state, const ForecastPlan& plan, const Bucket& request,
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
                    not_finite += is_not_finite(value, plan.not_finite) ? 1 : 0;
                    result[to++] = without_mark(value, plan.not_finite);
                }
            }
        }
    }
    return {result.first(to), request.batch, request.variates, request.horizon,
            request.samples,  not_finite,    plan.levels};
}

}  // namespace totograph
