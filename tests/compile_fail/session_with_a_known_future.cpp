// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a session takes no variates whose future is known.
#include <totograph/forecast/family.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/session/model.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr Bucket bucket{.variates = 2, .context = 64, .horizon = 32};
#else
constexpr Bucket bucket{.variates = 2, .context = 64, .horizon = 32, .exogenous = 1};
#endif

static_assert(check_bucket<toto2::Continued<toto2::toto2_4m>, bucket>());
