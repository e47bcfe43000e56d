// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a position must be an i32 tensor with one element, or one for each series.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4, 1}), take(r.state("x", {4, 8}), 1, r.state("at", {1}, DType::i32)));
#else
        r.store(r.state("y", {4, 1}), take(r.state("x", {4, 8}), 1, r.state("at", {1})));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
