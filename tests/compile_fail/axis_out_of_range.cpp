// SPDX-License-Identifier: Apache-2.0
// expect: totograph: an operation names an axis that the tensor does not have.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4, 3}), slice(r.state("x", {4, 8}), -1, 0, 3));
#else
        r.store(r.state("y", {4, 3}), slice(r.state("x", {4, 8}), 2, 0, 3));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
