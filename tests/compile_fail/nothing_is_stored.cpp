// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a model stores what it computes into states
// expect of g++: none of 5 nodes is a store
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
        const Tensor out = r.state("out", {4});
        const Tensor doubled = r.state("x", {4}) * 2.0;
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(out, doubled);
#else
        (void)(out + doubled);
#endif
    }
};

static_assert(Program<Model>::states.size() == 2);
