// SPDX-License-Identifier: Apache-2.0
// expect: totograph: an executor runs the programs that it was made of, numbered from 0 on; it has none of this number.
#include <totograph/exec/cpu/eager_executor.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) { r.store(r.state("y", {4}), r.state("x", {4}) * 2.0); }
};

inline void run(cpu::EagerExecutor<Program<Model>>& executor) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
    executor.run<0>();
#else
    executor.run<1>();
#endif
}
