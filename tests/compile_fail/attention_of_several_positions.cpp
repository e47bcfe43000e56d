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
        const Tensor q = r.state("q", {1, 1, 2, 1, 8});
#else
        const Tensor q = r.state("q", {1, 1, 2, 3, 8});
#endif
        const Tensor k = r.state("k", {1, 1, 2, 3, 8});
        const Tensor length = r.state("length", {1}, DType::i32);
        r.tap("y", nn::cached_attention(q, k, k, length, k, k, length, 2));
    }
};

static_assert(Program<Model>::steps.size() > 0);
