// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a bucket needs a context of at least one step.
#include <totograph/core/bucket.hpp>
#include <totograph/toto/config.hpp>
#include <totograph/toto/forecast_sizes.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr Bucket bucket{.context = 1, .horizon = 8};
#else
constexpr Bucket bucket{.context = 0, .horizon = 8};
#endif

static_assert(toto::check_bucket<toto::open_base_1_0, bucket>());
