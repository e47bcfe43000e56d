// SPDX-License-Identifier: Apache-2.0
// expect: totograph: what the body of a loop records ends with the iteration, but for its result; return it, or record
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
        Tensor last;
        const Tensor y = repeat(6, r.state("x", {4, 4}), [&](Tensor x, LayerIndex) {
            last = exp(x);
            return x + last;
        });
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4, 4}), y);
#else
        r.store(r.state("y", {4, 4}), y + last);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
