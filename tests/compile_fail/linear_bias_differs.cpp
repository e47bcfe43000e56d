// SPDX-License-Identifier: Apache-2.0
// expect: with the in_features of its input, and its bias
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4, 16}), linear(r.state("x", {4, 8}), r.weight("w", {16, 8}), r.weight("b", {16})));
#else
        r.store(r.state("y", {4, 16}), linear(r.state("x", {4, 8}), r.weight("w", {16, 8}), r.weight("b", {8})));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
