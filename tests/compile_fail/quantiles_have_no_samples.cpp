// SPDX-License-Identifier: Apache-2.0
// expect: totograph: this family of models forecasts quantiles and has no samples; ask for quantile(level).
#include <totograph/forecast/results/quantile_forecast.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
const auto read_it = [](const QuantileForecast& forecast) { return forecast.quantile(0.5).size(); };
#else
const auto read_it = [](const QuantileForecast& forecast) { return forecast.samples().size(); };
#endif
