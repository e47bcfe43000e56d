// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the number of layers must be a multiple of spacewise_every_n_layers, or that must be -1.
#include <totograph/models/toto1/config.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr toto1::Toto1Config chosen{.num_layers = 12, .spacewise_every_n_layers = 6};
#else
constexpr toto1::Toto1Config chosen{.num_layers = 12, .spacewise_every_n_layers = 5};
#endif

struct Model {
    static constexpr toto1::Toto1Config config = chosen;
};
static_assert(toto1::check_config<Model>());
