// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the body of a loop returns a tensor of the shape and the dtype that it was given.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
        const Tensor y = repeat(6, r.state("x", {4, 4}), [](Tensor x, LayerIndex) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
            return x + 1.0;
#else
            return sum(x);
#endif
        });
        r.store(r.state("y", y.shape()), y);
    }
};

static_assert(Program<Model>::steps.size() > 0);
