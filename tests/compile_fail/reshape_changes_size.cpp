// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a reshape must keep the number of elements of the tensor.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(r.state("y", {2, 16}), reshape(r.state("x", {4, 8}), {2, 16}));
#else
        r.store(r.state("y", {2, 15}), reshape(r.state("x", {4, 8}), {2, 15}));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
