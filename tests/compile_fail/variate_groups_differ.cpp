// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a mask of an attention has i32 ids, one for each key; without a mask there are none.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor x = r.state("x", {2, 1, 5, 3, 12});
        r.store(r.state("y", x.shape()),
                nn::variate_attention(x, x, x, r.state("groups", {2, 5, 3}, DType::i32), {.heads = 3}));
#else
        const Tensor x = r.state("x", {2, 1, 5, 3, 12});
        r.store(r.state("y", x.shape()),
                nn::variate_attention(x, x, x, r.state("groups", {2, 5}, DType::i32), {.heads = 3}));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
