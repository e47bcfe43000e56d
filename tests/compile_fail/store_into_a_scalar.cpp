// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a value stored into a state must have the state's shape except along the stored axis.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {}), r.constant(1) + r.state("x", {}));
#else
        r.store(r.state("y", {}), r.constant(1) + r.state("x", {1}));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
