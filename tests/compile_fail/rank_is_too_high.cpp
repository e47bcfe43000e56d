// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a tensor has at most 6 axes (`max_rank`), at least one element along each, and at most 2^48
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/patch_embedding.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.tap("y", nn::patchify(r.state("x", {1, 1, 1, 1, 8}), 4) * 2.0);
#else
        r.tap("y", nn::patchify(r.state("x", {1, 1, 1, 1, 1, 8}), 4) * 2.0);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
