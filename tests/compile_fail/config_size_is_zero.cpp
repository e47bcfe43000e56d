// SPDX-License-Identifier: Apache-2.0
// expect: totograph: every size of a Toto configuration must be positive.
#include <totograph/models/toto1/config.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr toto1::Toto1Config chosen{.k_components = 1};
#else
constexpr toto1::Toto1Config chosen{.k_components = 0};
#endif

struct Model {
    static constexpr toto1::Toto1Config config = chosen;
};
static_assert(toto1::check_config<Model>());
