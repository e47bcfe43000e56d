// SPDX-License-Identifier: Apache-2.0
// expect: totograph: an operation has a `static constexpr std::string_view name`.
// expect: totograph: an opaque operation has `static constexpr Shape shape(Shape input, ...)`
// expect: totograph: the `operations` of a model are a set
// expect: totograph: the `types` of an operation are a tuple
#include <string_view>
#include <tuple>

#include <totograph/core/shape.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Same {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
    static constexpr std::string_view name = "same";
#endif
    template <class T>
    static T apply(T x) {
        return x;
    }
};

struct Halves {
    static constexpr std::string_view name = "halves";
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
    using types = std::tuple<float>;
#else
    using types = float;
#endif
    template <class T>
    static T apply(T x) {
        return x * 0.5F;
    }
};

struct Sums {
    static constexpr std::string_view name = "sums";
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
    static constexpr Shape shape(Shape a, Shape /*b*/) {
        return a;
    }
#else
    static constexpr Shape shape(Shape a) {
        return a;
    }
#endif
    template <class Output, class A, class B>
    static void run(Output output, A a, B b) noexcept {
        output(0) = a(0) + b(0);
    }
};

struct Elementwise {
    using operations = OperationSet<Same>;

    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {4});
        r.store(x, apply<Same>(x));
    }
};

struct Typed {
    using operations = OperationSet<Halves>;

    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {4});
        r.store(x, apply<Halves>(x));
    }
};

struct Opaque {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
    using operations = OperationSet<Sums>;
#else
    using operations = Sums;
#endif

    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {4});
        r.store(x, opaque<Sums>(x, x * 2.0));
    }
};

static_assert(Program<Elementwise>::steps.size() > 0);
static_assert(Program<Typed>::steps.size() > 0);
static_assert(Program<Opaque>::steps.size() > 0);
