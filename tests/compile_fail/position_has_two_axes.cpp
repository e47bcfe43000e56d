// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a position must be an i32 tensor with one element, or one for each series.
#include <totograph/core/dtype.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor at = r.state("at", {4}, DType::i32);
#else
        const Tensor at = r.state("at", {1, 4}, DType::i32);
#endif
        r.tap("y", take(r.state("x", {4, 8}), 1, at));
    }
};

static_assert(Program<Model>::steps.size() > 0);
