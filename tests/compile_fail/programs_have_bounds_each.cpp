// SPDX-License-Identifier: Apache-2.0
// expect: totograph: two programs that run together have a state of bounds (StateUse::bounds) each
#include <totograph/exec/state_layout.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

constexpr void record_copy(Recorder& r, const char* bounds) {
    (void)r.state(bounds, {1}, DType::i32, {}, StateUse::bounds);
    r.store(r.state("y", {4}, DType::f32, {}, StateUse::any, {1}), r.state("x", {4}));
}

struct First {
    static constexpr void record(Recorder& r) { record_copy(r, "used"); }
};
struct Second {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
    static constexpr void record(Recorder& r) {
        record_copy(r, "used");
    }
#else
    static constexpr void record(Recorder& r) {
        record_copy(r, "used.later");
    }
#endif
};

static_assert(StateLayout<Program<First>, Program<Second>>::count > 0);
