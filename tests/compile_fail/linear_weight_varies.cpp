// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the weight of a linear layer must be made of weights and constants alone
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor factor = r.weight("factor", {1});
#else
        const Tensor factor = r.state("factor", {1});
#endif
        r.tap("y", linear(r.state("x", {2, 4}), r.weight("w", {3, 4}) * factor, r.weight("b", {3})));
    }
};

static_assert(Program<Model>::steps.size() > 0);
