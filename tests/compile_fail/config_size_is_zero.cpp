// SPDX-License-Identifier: Apache-2.0
// expect: totograph: every size of a Toto configuration must be positive.
#include <totograph/toto/config.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr toto::Toto1Config chosen{.k_components = 1};
#else
constexpr toto::Toto1Config chosen{.k_components = 0};
#endif

struct Model {
    static constexpr toto::Toto1Config config = chosen;
};
static_assert(toto::check_config<Model>());
