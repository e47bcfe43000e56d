// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the tensors of one operation come from two recorders.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4}), r.state("x", {4}) + r.state("z", {4}));
#else
        Recorder other;
        r.store(r.state("y", {4}), r.state("x", {4}) + other.state("z", {4}));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
