// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a model is too large for the planner's tables
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        for (int layer = 0; layer < 4; ++layer) {
            r.store(r.state("x", {2}, DType::f32, layer), r.state("y", {2}));
        }
#else
        for (int layer = 0; layer < 600; ++layer) {
            r.store(r.state("x", {2}, DType::f32, layer), r.state("y", {2}));
        }
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
