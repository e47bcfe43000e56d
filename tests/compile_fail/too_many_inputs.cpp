// SPDX-License-Identifier: Apache-2.0
// expect: totograph: an operation has more inputs than a node can hold.
#include <string_view>

#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Sum {
    static constexpr std::string_view name = "sum";
    template <class... Shapes>
    static constexpr Shape shape(Shape first, Shapes...) {
        return first;
    }
};

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor x = r.state("x", {4});
        r.store(r.state("y", {4}), opaque<Sum>(x, x, x, x, x, x, x, x, x));
#else
        const Tensor x = r.state("x", {4});
        r.store(r.state("y", {4}), opaque<Sum>(x, x, x, x, x, x, x, x, x, x));
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
