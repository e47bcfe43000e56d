// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a bucket needs at least one variate that is not exogenous.
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/family.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr Bucket bucket{.variates = 3, .context = 64, .horizon = 8, .exogenous = 2};
#else
constexpr Bucket bucket{.variates = 3, .context = 64, .horizon = 8, .exogenous = 3};
#endif

static_assert(check_bucket<toto1::open_base_1_0, bucket>());
