// SPDX-License-Identifier: Apache-2.0
// expect: totograph: two programs that run together declare a state of one name with different shapes or dtypes.
#include <totograph/exec/state_layout.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct First {
    static constexpr void record(Recorder& r) { r.store(r.state("x", {4}), r.state("y", {4})); }
};
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
struct Second {
    static constexpr void record(Recorder& r) { r.store(r.state("z", {4}), r.state("x", {4})); }
};
#else
struct Second {
    static constexpr void record(Recorder& r) { r.store(r.state("z", {5}), r.state("x", {5})); }
};
#endif

static_assert(StateLayout<Program<First>, Program<Second>>::count > 0);
