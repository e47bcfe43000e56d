// SPDX-License-Identifier: Apache-2.0
// expect: totograph: no header was included that runs forecasters with these options; for ForecasterOptions it is
// expect: <totograph/forecast/cpu/forecaster.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecaster.hpp>
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
#include <totograph/forecast/cpu/forecaster.hpp>
#endif

#include "forecast/smallest_family.hpp"

using namespace totograph;

using Repeating = Forecaster<smallest_family::Model, Bucket{.context = 4, .horizon = 2}>;

static_assert(sizeof(Repeating) > 0);
