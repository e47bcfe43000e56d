// SPDX-License-Identifier: Apache-2.0
// expect: totograph: queries, keys and values of an attention do not have the shapes that it needs, or are not f32.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor valid = r.state("valid", {1}, DType::i32);
        r.store(r.state("y", {1, 1, 1, 3, 12}),
                nn::causal_attention(r.state("q", {1, 1, 1, 3, 12}), r.state("k", {1, 1, 1, 3, 12}),
                                     r.state("v", {1, 1, 1, 3, 12}), valid, {.heads = 3}));
#else
        const Tensor valid = r.state("valid", {1}, DType::i32);
        r.store(r.state("y", {1, 1, 1, 3, 12}),
                nn::causal_attention(r.state("q", {1, 1, 1, 3, 12}), r.state("k", {1, 1, 1, 3, 12}),
                                     r.state("v", {1, 1, 1, 2, 12}), valid, {.heads = 3}));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
