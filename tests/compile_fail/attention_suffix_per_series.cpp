// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a position must be an i32 tensor with one element, or one for each series.
#include <totograph/core/dtype.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor length = r.state("length", {1}, DType::i32);
#else
        const Tensor length = r.state("length", {2}, DType::i32);
#endif
        const Tensor q = r.state("q", {2, 1, 2, 1, 8});
        const Tensor k = r.state("k", {2, 1, 2, 3, 8});
        r.tap("y",
              nn::cached_attention(q, {k, k, r.state("prefix_length", {2}, DType::i32)}, {k, k, length}, {.heads = 2}));
    }
};

static_assert(Program<Model>::steps.size() > 0);
