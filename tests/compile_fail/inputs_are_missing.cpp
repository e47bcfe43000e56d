// SPDX-License-Identifier: Apache-2.0
// expect: totograph: an operation has another number of inputs than its row of `op_table` says.
// expect of g++: add of 1 inputs; it takes 2
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {4});
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4}), r.add(Op::add, DType::f32, Shape{4}, {x, x}));
#else
        r.store(r.state("y", {4}), r.add(Op::add, DType::f32, Shape{4}, {x}));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
