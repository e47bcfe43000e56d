// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <totograph/forecast/series.hpp>

namespace second_family {

inline constexpr std::uint64_t weights_seed = 3;

/// The quantiles of `Request`, `[batch, variates, horizon, levels]`, by the eager executor.
std::vector<float> eager_quantiles();
/// The same of a series that the bucket `longest` holds.
std::vector<float> eager_quantiles(const totograph::Series& series);

}  // namespace second_family
