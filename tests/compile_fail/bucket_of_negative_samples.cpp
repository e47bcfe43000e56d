// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a bucket's number of samples is 0
#include <totograph/core/bucket.hpp>
#include <totograph/toto/config.hpp>
#include <totograph/toto/forecast_sizes.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr Bucket bucket{.context = 64, .horizon = 8, .samples = 0};
#else
constexpr Bucket bucket{.context = 64, .horizon = 8, .samples = -1};
#endif

static_assert(toto::check_bucket<toto::open_base_1_0, bucket>());
