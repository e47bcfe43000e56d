// SPDX-License-Identifier: Apache-2.0
// expect: totograph: two tensors of one operation have shapes that do not broadcast
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {4, 14}), concatenate(r.state("a", {4, 8}), r.state("b", {4, 6}), 1));
#else
        r.store(r.state("y", {4, 14}), concatenate(r.state("a", {4, 8}), r.state("b", {3, 6}), 1));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
