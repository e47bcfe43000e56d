// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a bucket's number of samples is 0
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/family.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr Bucket bucket{.context = 64, .horizon = 8, .samples = 0};
#else
constexpr Bucket bucket{.context = 64, .horizon = 8, .samples = -1};
#endif

static_assert(check_bucket<toto1::open_base_1_0, bucket>());
