// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a bucket needs at least one series and one variate.
#include <totograph/core/bucket.hpp>
#include <totograph/toto/config.hpp>
#include <totograph/toto/forecast_sizes.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr Bucket bucket{.batch = 1, .context = 64, .horizon = 8};
#else
constexpr Bucket bucket{.batch = 0, .context = 64, .horizon = 8};
#endif

static_assert(toto::check_bucket<toto::open_base_1_0, bucket>());
