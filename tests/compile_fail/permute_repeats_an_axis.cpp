// SPDX-License-Identifier: Apache-2.0
// expect: totograph: an operation names an axis that the tensor does not have.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {8, 4}), permute(r.state("x", {4, 8}), {1, 0}));
#else
        r.store(r.state("y", {8, 8}), permute(r.state("x", {4, 8}), {1, 1}));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
