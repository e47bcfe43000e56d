// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a position must be an i32 tensor with one element, or one for each series.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store_at(r.state("y", {4, 8}), r.state("x", {4, 1}), 1, r.state("at", {4}, DType::i32));
#else
        r.store_at(r.state("y", {4, 8}), r.state("x", {4, 1}), 1, r.state("at", {3}, DType::i32));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
