// SPDX-License-Identifier: Apache-2.0
// expect: totograph: this family of models does not sample; a bucket of it has samples = 0.
#include <totograph/forecast/forecast_plan.hpp>

#include "forecast/smallest_family.hpp"

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr Bucket bucket{.context = 4, .horizon = 2};
#else
constexpr Bucket bucket{.context = 4, .horizon = 2, .samples = 8};
#endif

static_assert(forecast_plan<smallest_family::Model, bucket>().program_count() == 1);
