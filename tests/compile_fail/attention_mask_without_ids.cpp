// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a mask of an attention has i32 ids, one for each key; without a mask there are none.
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
        const nn::AttentionOptions options{
            .heads = 6, .kv_heads = 2, .mask = KeyMask::by_key, .ids = r.state("ids", {1, 2, 3}, DType::i32)};
#else
        const nn::AttentionOptions options{.heads = 6, .kv_heads = 2, .mask = KeyMask::by_key};
#endif
        r.tap("y", nn::attention(r.state("q", {1, 1, 2, 3, 24}), keys, options));
    }
};

static_assert(Program<Model>::steps.size() > 0);
