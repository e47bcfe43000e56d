// SPDX-License-Identifier: Apache-2.0
// expect: as many as there are tensors that it is applied to
// expect of g++: Operation = Difference
#include <string_view>

#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Difference {
    static constexpr std::string_view name = "difference";
    template <class T>
    static T apply(T a, T b) {
        return a - b;
    }
};

struct Model {
    using operations = OperationSet<Difference>;

    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {4, 8});
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(x, apply<Difference>(x, x * 2.0));
#else
        r.store(x, apply<Difference>(x));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
