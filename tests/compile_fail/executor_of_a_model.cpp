// SPDX-License-Identifier: Apache-2.0
// expect: totograph: an executor runs planned programs, `Program<Model>`, and not the models themselves.
#include <totograph/exec/state_layout.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) { r.tap("y", r.state("x", {4}) * 2.0); }
};

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
static_assert(StateLayout<Program<Model>>::bytes > 0);
#else
static_assert(StateLayout<Model>::bytes > 0);
#endif
