// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/recorder.hpp>

#include "support/executors.hpp"
#include "support/outputs.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

struct Cube {
    static constexpr std::string_view name = "cube";
    template <class T>
    static T apply(T x) {
        return x * x * x;
    }
};

struct Softsign {
    static constexpr std::string_view name = "softsign";
    template <class T>
    static T apply(T x) {
        using std::abs;
        return x / (abs(x) + T(1.0F));
    }
};

struct Leaky {
    static constexpr std::string_view name = "leaky";
    template <class T>
    static T apply(T x, T slope) {
        using std::max;
        using std::min;
        return max(x, T(0.0F)) + slope * min(x, T(0.0F));
    }
};

struct Blend {
    static constexpr std::string_view name = "blend";
    template <class T>
    static T apply(T a, T b, T share) {
        return a + share * (b - a);
    }
};

/// The mean of each element and the one before it, along the last axis.
struct MovingAverage {
    static constexpr std::string_view name = "moving_average";
    static constexpr Shape shape(const Shape& x) { return x; }
    template <class Output, class Input>
    static void run(Output out, Input in) noexcept {
        constexpr Index columns = Input::shape[-1];
        for (Index at = 0; at < Input::size; ++at) {
            const float before = in.data()[at % columns == 0 ? at : at - 1];
            out.data()[at] = 0.5F * (before + in.data()[at]);
        }
    }
};

/// An outer product, whose shape is not that of an input.
struct Outer {
    static constexpr std::string_view name = "outer";
    static constexpr Shape shape(const Shape& a, const Shape& b) { return {a[0], b[0]}; }
    template <class Output, class A, class B>
    static void run(Output out, A a, B b) noexcept {
        static_assert(std::is_same_v<typename A::Element, const float>);
        for (Index row = 0; row < A::size; ++row) {
            for (Index column = 0; column < B::size; ++column) {
                out(row, column) = a(row) * b(column);
            }
        }
    }
};

/// In every type that graphs compute in.
struct SquareOfSum {
    static constexpr std::string_view name = "square_of_sum";
    using types = std::tuple<float, double, std::int32_t>;
    template <class T>
    static T apply(T a, T b) {
        return (a + b) * (a + b);
    }
};

/// The largest step from one number of a row to the next, in doubles or integers.
struct LargestStep {
    static constexpr std::string_view name = "largest_step";
    using types = std::tuple<double, std::int32_t>;
    static constexpr Shape shape(const Shape& x) { return with_axis(x, -1, 1); }
    template <class Output, class Input>
    static void run(Output out, Input in) noexcept {
        using T = std::remove_const_t<typename Input::Element>;
        static_assert(std::is_same_v<typename Output::Element, T>);
        constexpr Index columns = Input::shape[-1];
        for (Index row = 0; row < Output::size; ++row) {
            T largest = 0;
            for (Index column = 1; column < columns; ++column) {
                const T step = in.data()[row * columns + column] - in.data()[row * columns + column - 1];
                largest = step > largest ? step : largest;
            }
            out.data()[row] = largest;
        }
    }
};

#if defined(__clang__) || !defined(__SANITIZE_ADDRESS__)  // beside that is -fsanitize=undefined (`is_same_operation`)
/// Operations of functions: compilers spell the types of two of these alike.
template <auto function>
struct Applied {
    static constexpr std::string_view name = "applied";
    template <class T>
    static T apply(T x) {
        return function(x);
    }
};
using Squared = Applied<[]<class T>(T x) { return x * x; }>;
using Doubled = Applied<[]<class T>(T x) { return x + x; }>;

struct SpelledAlike {
    using operations = OperationSet<Squared, Doubled>;

    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {6});
        out(apply<Squared>(x));
        out(apply<Doubled>(x));
    }
};
#endif

/// It gives what it reads to somebody outside of the graph.
struct Watch {
    static constexpr std::string_view name = "watch";
    static inline std::vector<float> seen = std::vector<float>(6);
    static constexpr Shape shape(const Shape& x) { return x; }
    template <class Output, class Input>
    static void run(Output, Input in) noexcept {
        std::copy_n(in.data(), Input::size, seen.begin());
    }
};

/// Nobody reads what it makes: alone, or beside what is stored.
template <bool stores>
struct Watched {
    using operations = OperationSet<Watch>;

    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {6});
        opaque<Watch>(x * x + 1.0);
        if (stores) {
            r.store(r.state("out", {6}), x + 2.0);
        }
    }
};

template <class Executor>
void check_watched(Executor&& executor) {
    fill_states(executor, 5);
    const auto x = state_of<float>(executor, "x");
    std::fill(Watch::seen.begin(), Watch::seen.end(), 0.0F);
    executor.template run<0>();
    for (std::size_t at = 0; at < x.size(); ++at) {
        CHECK(Watch::seen[at] == doctest::Approx(x[at] * x[at] + 1.0F).epsilon(1e-6));
    }
}

/// Operations of the user on f64 or i32.
template <DType dtype>
struct OtherTypes {
    using operations = OperationSet<SquareOfSum, LargestStep>;

    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {3, 10}, dtype);
        const Tensor row = r.state("row", {10}, dtype);
        out(apply<SquareOfSum>(x, row));
        out(apply<SquareOfSum>(x - row, x) + row * 2.0);
        out(cast(apply<SquareOfSum>(x, row), DType::f32) * 0.5);
        out(sum(apply<SquareOfSum>(x, row)));
        out(opaque<LargestStep>(x));
        out(opaque<LargestStep>(x * 2.0) + row);
        out(apply<SquareOfSum>(cast(x, DType::f32) * 0.1, r.weight("row", {10})));
    }
};

struct Model {
    using operations = OperationSet<Cube, Softsign, Leaky, Blend, MovingAverage, Outer>;

    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {3, 10});
        const Tensor row = r.state("row", {10});
        const Tensor column = r.state("column", {3, 1});
        out(apply<Cube>(x));
        out(apply<Leaky>(x - row, column));
        out(apply<Blend>(x, row, column) * 2.0);
        // After a GEMM, before and after a reduction, in a split of the last axis.
        const Tensor gemm = linear(x, r.weight("w", {12, 10}), r.weight("b", {12}));
        out(apply<Softsign>(gemm) + 1.0);
        out(apply<Cube>(sum(apply<Softsign>(x)) * 0.1));
        out(reshape(apply<Softsign>(gemm * 2.0), {3, 3, 4}) * r.state("inner", {4}));
        // Of another type before and after: these are kernels of their own.
        out(apply<Cube>(cast(r.state("whole", {3, 10}, DType::i32), DType::f32) * 0.1));
        out(cast(apply<Softsign>(x), DType::f64) * 3.0);
        // Of weights alone: two operations of one tensor are two tensors.
        const Tensor weight = r.weight("row", {10});
        out(x * apply<Cube>(weight));
        out(x * apply<Softsign>(weight));

        out(opaque<MovingAverage>(x));
        out(opaque<MovingAverage>(x * 2.0) + row);
        out(opaque<MovingAverage>(reshape(x, {1, 1, 3, 10})));
        out(opaque<MovingAverage>(slice(x, 0, 1, 1)));
        out(opaque<MovingAverage>(weight));
        out(opaque<Outer>(row, slice(row, 0, 3, 4)));
        // An opaque operation reads a state as it is where it was recorded.
        const Tensor before = opaque<MovingAverage>(x);
        r.store(x, x * 3.0);
        out(before);
        out(opaque<MovingAverage>(x));
    }
};

}  // namespace

TEST_CASE("operations of the user run on both executors") {
    check_against_eager<Model>({4e-6, 1e-5});
    check_against_eager<Model, Passes::none()>({4e-6, 1e-5});
}

TEST_CASE("operations of the user run in f64 and i32") {
    check_against_eager<OtherTypes<DType::f64>>({4e-6, 1e-5});
    check_against_eager<OtherTypes<DType::i32>>({4e-6, 1e-5});

    using P = Program<OtherTypes<DType::i32>, Passes::none()>;
    Eager<P> eager(made_up_weights(), one_thread());
    fill_states(eager, 5);
    const auto x = state_of<std::int32_t>(eager, "x");
    const auto row = state_of<std::int32_t>(eager, "row");
    eager.run<0>();
    CHECK(state_of<std::int32_t>(eager, "out", 0)[13] == (x[13] + row[3]) * (x[13] + row[3]));
    std::int32_t largest = 0;
    for (std::size_t column = 11; column < 20; ++column) {
        largest = std::max(largest, x[column] - x[column - 1]);
    }
    CHECK(state_of<std::int32_t>(eager, "out", 4)[1] == largest);
}

TEST_CASE("an operation of the user on a dtype that it does not name is a mistake") {
    Recorder r;
    apply<Cube>(r.state("x", {4}, DType::f64));
    CHECK(r.graph().error.kind == ModelErrorKind::dtype_is_not_taken);
    CHECK(r.graph().error.message() ==
          "cube: an input of f64, which the operation's `types` do not name; they are float alone where it has none");
    Recorder other;
    opaque<LargestStep>(other.state("x", {4}));
    CHECK(other.graph().error.kind == ModelErrorKind::dtype_is_not_taken);
    CHECK(custom_operation<SquareOfSum>.computes_in(DType::f64));
    CHECK_FALSE(custom_operation<Cube>.computes_in(DType::i32));
    CHECK_FALSE(custom_operation<Cube>.computes_in(DType::bf16));
}

TEST_CASE("the eager executor computes what the operation says") {
    using P = Program<Model, Passes::none()>;
    Eager<P> eager(made_up_weights(), one_thread());
    fill_states(eager, 5);
    const auto x = state_of<float>(eager, "x");
    const std::vector<float> before(x.begin(), x.end());
    eager.run<0>();
    const auto cubes = state_of<float>(eager, "out", 0);
    const auto averages = state_of<float>(eager, "out", 10);
    for (std::size_t at = 0; at < before.size(); ++at) {
        CHECK(cubes[at] == doctest::Approx(before[at] * before[at] * before[at]).epsilon(1e-6));
        const float left = at % 10 == 0 ? before[at] : before[at - 1];
        CHECK(averages[at] == doctest::Approx(0.5F * (left + before[at])).epsilon(1e-6));
    }
}

TEST_CASE("a set of operations finds them by what a graph holds of them") {
    using Set = OperationSet<Cube, Leaky>;
    static_assert(Set::find(&custom_operation<Cube>) == 0);
    static_assert(Set::find(&custom_operation<Leaky>) == 1);
    static_assert(Set::find(&custom_operation<Blend>) == Set::size);
    static_assert(std::is_same_v<Set::At<1>, Leaky>);
    static_assert(std::is_same_v<OperationsOf<Model>::type, Model::operations>);
    CHECK(custom_operation<Leaky>.name == "leaky");
    const float arguments[] = {-2.0F, 0.25F};
    CHECK(custom_operation<Leaky>.scalar(arguments) == -0.5F);
    const bool has_scalar = custom_operation<MovingAverage>.scalar != nullptr;
    CHECK(!has_scalar);
}

#if defined(__clang__) || !defined(__SANITIZE_ADDRESS__)
TEST_CASE("operations whose types are spelled alike are two") {
    const auto check = [](auto&& executor) {
        fill_states(executor, 5);
        const auto x = state_of<float>(executor, "x");
        executor.template run<0>();
        for (std::size_t at = 0; at < x.size(); ++at) {
            CHECK(state_of<float>(executor, "out", 0)[at] == x[at] * x[at]);
            CHECK(state_of<float>(executor, "out", 1)[at] == x[at] + x[at]);
        }
    };
    check(Fused<Program<SpelledAlike>>(made_up_weights(), one_thread()));
    check(Eager<Program<SpelledAlike>>(made_up_weights(), one_thread()));
}
#endif

TEST_CASE("an opaque operation runs whose result nobody reads") {
    check_watched(Eager<Program<Watched<true>, Passes::none()>>(made_up_weights(), one_thread()));
    check_watched(Fused<Program<Watched<true>>>(made_up_weights(), one_thread()));
    check_watched(Eager<Program<Watched<false>, Passes::none()>>(made_up_weights(), one_thread()));
    check_watched(Fused<Program<Watched<false>>>(made_up_weights(), one_thread()));
}
