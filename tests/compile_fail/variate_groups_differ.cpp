// SPDX-License-Identifier: Apache-2.0
// expect: totograph: queries, keys and values of an attention do not have the shapes that it needs, or are not f32.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor x = r.state("x", {2, 1, 5, 3, 12});
        r.store(r.state("y", x.shape()), nn::variate_attention(x, x, x, r.state("groups", {2, 5, 3}, DType::i32), 3));
#else
        const Tensor x = r.state("x", {2, 1, 5, 3, 12});
        r.store(r.state("y", x.shape()), nn::variate_attention(x, x, x, r.state("groups", {2, 5}, DType::i32), 3));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
