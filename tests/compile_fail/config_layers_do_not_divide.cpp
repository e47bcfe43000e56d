// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the number of layers must be a multiple of spacewise_every_n_layers, or that must be -1.
#include <totograph/toto/config.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr toto::Toto1Config chosen{.num_layers = 12, .spacewise_every_n_layers = 6};
#else
constexpr toto::Toto1Config chosen{.num_layers = 12, .spacewise_every_n_layers = 5};
#endif

struct Model {
    static constexpr toto::Toto1Config config = chosen;
};
static_assert(toto::check_config<Model>());
