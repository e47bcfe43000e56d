// SPDX-License-Identifier: Apache-2.0
// expect: which takes a view of its output and one of each tensor that it is applied to.
// expect: written once for numbers and for vectors of them; this one takes numbers alone.
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Halves {
    static constexpr std::string_view name = "halves";
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
    template <class T>
    static T apply(T x) {
        return x * 0.5F;
    }
#else
    static float apply(float x) {
        return x * 0.5F;
    }
#endif
};

struct Ends {
    static constexpr std::string_view name = "ends";
    static constexpr Shape shape(Shape /*x*/) { return {2}; }
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
    template <class Output, class Input>
    static void run(Output output, Input x) noexcept {
        output(0) = x(0);
        output(1) = x(3);
    }
#endif
};

struct Model {
    using operations = OperationSet<Halves, Ends>;

    static constexpr void record(Recorder& r) {
        r.store(r.state("y", {2}), opaque<Ends>(apply<Halves>(r.state("x", {4}))));
    }
};

void run(cpu::FusedExecutor<float, Program<Model>>& executor) {
    executor.run<0>();
}
