// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the embedding dimension must be divisible by the number of heads.
#include <totograph/toto/config.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr toto::Toto1Config chosen{.embed_dim = 768, .num_heads = 12};
#else
constexpr toto::Toto1Config chosen{.embed_dim = 768, .num_heads = 10};
#endif

struct Model {
    static constexpr toto::Toto1Config config = chosen;
};
static_assert(toto::check_config<Model>());
