// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the embedding dimension must be divisible by the number of heads.
#include <totograph/models/toto1/config.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr toto1::Toto1Config chosen{.embed_dim = 768, .num_heads = 12};
#else
constexpr toto1::Toto1Config chosen{.embed_dim = 768, .num_heads = 10};
#endif

struct Model {
    static constexpr toto1::Toto1Config config = chosen;
};
static_assert(toto1::check_config<Model>());
