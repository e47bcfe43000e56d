// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a tensor has at most 6 axes (`max_rank`), at least one element along each, and at most 2^48
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.tap("y", r.state("x", {4, 1}) * 2.0);
#else
        r.tap("y", r.state("x", {4, 0}) * 2.0);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
