// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a slice takes at least one index, in steps of at least 1, and none beyond the end of its axis.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4, 3}), slice(r.state("x", {4, 8}), 1, 5, 3));
#else
        r.store(r.state("y", {4, 3}), slice(r.state("x", {4, 8}), 1, 6, 3));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
