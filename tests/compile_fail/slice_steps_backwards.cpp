// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a slice takes at least one index, in steps of at least 1, and none beyond the end of its axis.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.tap("y", slice(r.state("x", {8}), 0, 4, 2, 1));
#else
        r.tap("y", slice(r.state("x", {8}), 0, 4, 2, -1));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
