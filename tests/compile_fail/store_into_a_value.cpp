// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a value stored into a state must have the state's shape except along the stored axis.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor x = r.state("x", {4, 8});
        r.store(x, x * 2.0);
#else
        const Tensor x = r.state("x", {4, 8});
        r.store(x * 2.0, x);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
