// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a model is a type with `static constexpr void record(totograph::Recorder&)`
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
    static constexpr void record(Recorder& r){
#else
    static constexpr void record(Recorder r) {
#endif
        r.store(r.state("out", {4}), r.state("x", {4}) * 2.0);
}
}
;

static_assert(Program<Model>::states.size() == 2);
