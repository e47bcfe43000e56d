// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a state is declared with an empty name; give it the name by which callers find it.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.tap("kept", r.state("x", {4, 8}) * 2.0);
#else
        r.tap("", r.state("x", {4, 8}) * 2.0);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
