// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the tensors of one operation have different dtypes
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4}), r.state("x", {4}) * cast(r.state("n", {4}, DType::i32), DType::f32));
#else
        r.store(r.state("y", {4}), r.state("x", {4}) * r.state("n", {4}, DType::i32));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
