// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the scale of an attention is a finite number above 0, or else an f32 tensor with one
#include <totograph/core/dtype.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
        const nn::KeysAndValues keys{r.state("k", {1, 1, 2, 3, 8}), r.state("v", {1, 1, 2, 3, 8}),
                                     r.state("length", {1}, DType::i32)};
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const nn::AttentionOptions options{.heads = 6, .kv_heads = 2, .scale_data = r.state("scale", {1})};
#else
        const nn::AttentionOptions options{
            .heads = 6, .kv_heads = 2, .scale = 0.5, .scale_data = r.state("scale", {1})};
#endif
        r.tap("y", nn::attention(r.state("q", {1, 1, 2, 3, 24}), keys, options));
    }
};

static_assert(Program<Model>::steps.size() > 0);
