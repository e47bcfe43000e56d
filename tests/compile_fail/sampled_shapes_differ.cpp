// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the parameters of a sampled mixture must have one shape
#include <totograph/core/dtype.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/student_t.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor x = r.state("x", {1, 1, 2, 1, 4, 3});
#else
        const Tensor x = r.state("x", {1, 3, 2, 1, 4, 3});
#endif
        r.tap("y", nn::sample({x, x, x, x}, 5, r.state("seed", {2}, DType::i32), r.state("first", {2}, DType::i32),
                              r.state("patch", {1}, DType::i32)));
    }
};

static_assert(Program<Model>::steps.size() > 0);
