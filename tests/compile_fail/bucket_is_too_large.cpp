// SPDX-License-Identifier: Apache-2.0
// expect: totograph: each size of a bucket is at most 2^31 - 1, for programs read those of a request as i32.
#include <cstdint>
#include <limits>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/family.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr Bucket bucket{.context = std::numeric_limits<std::int32_t>::max(), .horizon = 8};
#else
constexpr Bucket bucket{.context = std::numeric_limits<std::int64_t>::max(), .horizon = 8};
#endif

static_assert(check_bucket<toto1::open_base_1_0, bucket>());
