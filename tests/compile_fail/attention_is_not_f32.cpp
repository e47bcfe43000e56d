// SPDX-License-Identifier: Apache-2.0
// expect: totograph: queries, keys and values of an attention do not have the shapes that it needs, or are not f32.
#include <totograph/core/dtype.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor q = r.state("q", {1, 1, 2, 3, 8});
#else
        const Tensor q = r.state("q", {1, 1, 2, 3, 8}, DType::f64);
#endif
        r.tap("y", nn::causal_attention(q, q, q, r.state("valid", {1}, DType::i32), {.heads = 2}));
    }
};

static_assert(Program<Model>::steps.size() > 0);
