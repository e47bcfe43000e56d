// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>

namespace session_cases {

/// Quantiles of a forecast that reads the whole series, `[batch, variates, horizon, levels]`, by the eager executor.
std::vector<float> forecast_whole(const totograph::Series& series, totograph::Index horizon);

}  // namespace session_cases
