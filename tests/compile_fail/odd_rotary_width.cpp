// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a rotary embedding rotates pairs, so its width must be even.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4, 6}), rotate_pairs(r.state("x", {4, 6})));
#else
        r.store(r.state("y", {4, 7}), rotate_pairs(r.state("x", {4, 7})));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
