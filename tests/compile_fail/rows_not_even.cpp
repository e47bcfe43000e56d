// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a linear layer reads a view whose rows do not lie at one distance
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor part = slice(r.state("x", {4, 6, 8}), 1, 0, 3);
        const Tensor rows = reshape(part, {4, 3, 8});
        r.store(r.state("y", {4, 3, 2}), linear(rows, r.weight("w", {2, 8}), r.weight("b", {2})));
#else
        const Tensor part = slice(r.state("x", {4, 6, 8}), 1, 0, 3);
        const Tensor rows = part;
        r.store(r.state("y", {4, 3, 2}), linear(rows, r.weight("w", {2, 8}), r.weight("b", {2})));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
