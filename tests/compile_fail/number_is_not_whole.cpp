// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a number beside a tensor of i32 is a whole one, for it takes the tensor's dtype; cast the tensor
#include <totograph/core/dtype.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.tap("y", cast(r.state("x", {4}, DType::i32), DType::f32) * 0.5);
#else
        r.tap("y", r.state("x", {4}, DType::i32) * 0.5);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
