// SPDX-License-Identifier: Apache-2.0
// expect: totograph: this family of models forecasts quantiles and has no mean; ask for median().
#include <totograph/forecast/results/quantile_forecast.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
const auto read_it = [](const OwnedQuantileForecast& forecast) { return forecast.median().size(); };
#else
const auto read_it = [](const OwnedQuantileForecast& forecast) { return forecast.mean().size(); };
#endif
