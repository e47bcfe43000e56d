// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a store writes beyond the capacity of its state
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4, 8}), r.state("x", {2, 8}), 0, 0);
#else
        r.store(r.state("y", {4, 8}), r.state("x", {2, 8}), 0, -1);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
