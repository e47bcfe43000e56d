// SPDX-License-Identifier: Apache-2.0
// expect: totograph: one state name is declared with two shapes, dtypes or bounds
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("x", {4, 8}), r.state("x", {4, 8}) * 2.0);
#else
        r.store(r.state("x", {4, 8}), r.state("x", {4, 1}) * 2.0);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
