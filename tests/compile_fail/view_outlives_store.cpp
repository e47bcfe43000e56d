// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a view of a state is used after a store changed the state
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor x = r.state("x", {4, 8});
        const Tensor part = slice(x, 1, 0, 4);
        r.store(r.state("y", {4, 4}), part);
        r.store(x, x * 2.0);
#else
        const Tensor x = r.state("x", {4, 8});
        const Tensor part = slice(x, 1, 0, 4);
        r.store(x, x * 2.0);
        r.store(r.state("y", {4, 4}), part);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
