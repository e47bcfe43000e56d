// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>

namespace totograph {

/// From the state `forecast`, `[batch, values, variates, steps, patch_size]`, to `[batch, variates, horizon, values]`
/// without the padding. Counts values that are no finite numbers, and takes off their marks where the family marks
/// them. `result` has room for a request that fills the bucket.
Forecast collect_forecast(const float* state, const ForecastPlan& plan, const Bucket& request,
                          std::span<float> result) noexcept;

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/results/impl/collect.hpp>
#endif
