// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a graph computes in f32, f64 and i32; bf16 and f16 only store weights
#include <totograph/core/dtype.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.tap("y", r.state("x", {4}) * 2.0);
#else
        r.tap("y", r.state("x", {4}, DType::bf16) * 2.0);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
