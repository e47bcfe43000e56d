// SPDX-License-Identifier: Apache-2.0
// expect: totograph: num_heads must be a multiple of num_groups
#include <totograph/models/toto2/config.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr toto2::Toto2Config chosen{.d_model = 8, .d_ff = 8, .num_heads = 2, .num_groups = 2};
#else
constexpr toto2::Toto2Config chosen{.d_model = 8, .d_ff = 8, .num_heads = 2, .num_groups = -2};
#endif

struct Model {
    static constexpr toto2::Toto2Config config = chosen;
};
static_assert(toto2::check_config<Model>());
