// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the tensors of one operation have different dtypes; cast one.
#include <totograph/core/dtype.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor x = r.state("x", {2, 4});
#else
        const Tensor x = r.state("x", {2, 4}, DType::f64);
#endif
        r.tap("y", linear(x, r.weight("w", {3, 4}), r.weight("b", {3})));
    }
};

static_assert(Program<Model>::steps.size() > 0);
