// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a block is given its name as a type, for graphs keep views of names:
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/linear.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const nn::Linear<nn::LinearSize{.in = 4, .out = 4}> head(r, "head"_name);
#else
        const nn::Linear<nn::LinearSize{.in = 4, .out = 4}> head(r, "head");
#endif
        r.store(r.state("y", {4}), head.record(r.state("x", {4})));
    }
};

static_assert(Program<Model>::steps.size() > 0);
