// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the context of a session must have room for two patches.
#include <totograph/forecast/family.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/session/model.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr Bucket bucket{.context = 33, .horizon = 32};
#else
constexpr Bucket bucket{.context = 32, .horizon = 32};
#endif

static_assert(check_bucket<toto2::Continued<toto2::toto2_4m>, bucket>());
