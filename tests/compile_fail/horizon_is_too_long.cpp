// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the horizon of a bucket is at most 1,048,576 steps, for all of them are gone through
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/family.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr Bucket bucket{.context = 64, .horizon = 1'048'576};
#else
constexpr Bucket bucket{.context = 64, .horizon = 1'048'577};
#endif

static_assert(check_bucket<toto1::open_base_1_0, bucket>());
