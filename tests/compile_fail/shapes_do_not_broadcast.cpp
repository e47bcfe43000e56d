// SPDX-License-Identifier: Apache-2.0
// expect: totograph: two tensors of one operation have shapes that do not broadcast
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4, 8}), r.state("x", {4, 8}) + r.state("z", {4, 1}));
#else
        r.store(r.state("y", {4, 8}), r.state("x", {4, 8}) + r.state("z", {4, 6}));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
