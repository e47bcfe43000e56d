// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a bound is a number from 1 to the extent of the state that is declared with StateUse::bounds.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
        r.state("request", {2}, DType::i32, {}, StateUse::bounds);
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4, 3}), r.bound(r.state("x", {4, 3}), 0, 2));
#else
        r.store(r.state("y", {4, 3}), r.bound(r.state("x", {4, 3}), 0, 3));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
