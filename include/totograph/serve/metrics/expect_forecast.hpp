// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/serve/metrics/online_accuracy.hpp>

namespace totograph::serve::detail {

/// What is scored of one series and variate of a forecast: with samples or levels the median and the band from 0.1 to
/// 0.9, without them the mean. Throws `Error` (`invalid_argument`) for a series or variate that the forecast does not
/// have, and as `OnlineAccuracy::expect`.
void expect_forecast(OnlineAccuracy& accuracy, const ScoredSeries& scored, Index first_step, const Forecast& forecast,
                     Index series, Index variate);

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/metrics/impl/expect_forecast.hpp>
#endif
