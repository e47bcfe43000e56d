// SPDX-License-Identifier: Apache-2.0
// Elementwise ops, views and copies: the fused executor against the eager one, in every type that has them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/recorder.hpp>

#include "support/executors.hpp"
#include "support/movements.hpp"
#include "support/outputs.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// Ops whose result IEEE arithmetic rounds once, at some shapes.
template <DType dtype>
struct ExactOps {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor a = r.state("a", {3, 7}, dtype);
        const Tensor b = r.state("b", {3, 7}, dtype);
        const Tensor c = r.state("positive", {3, 7}, dtype);
        out(a + b);
        out(a - b);
        out(a * b);
        out(maximum(a, b));
        out(minimum(a, b));
        out(-a);
        out(abs(a));
        out(less(a, b));
        out(equal(maximum(a, 0.0), a));
        out(where(less(a, 0.0), b, c));
        out(where(a, b, c));
        if (dtype != DType::i32) {
            out(a / c);
            out(floor(a * 3.0));
        }
        if (dtype == DType::f64) {
            out(sqrt(c));
        }
    }
};

/// One rounding apart: the reference computes in double and rounds once.
struct NearOps {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {23});
        const Tensor wide = x * 20.0;
        const Tensor positive = r.state("positive", {23});
        out(exp(wide));
        out(log(positive));
        out(sqrt(positive));
        out(rsqrt(positive));
        out(sigmoid(wide));
        out(silu(wide));
        out(softplus(wide));
        out(softplus(x));
        out(tanh(x));
        out(sinh(x));
        out(sinh(wide * 2.0));
        out(asinh(x));
        out(asinh(exp(wide)));
        out(asinh(x * 1e-3));
        out(erf(x));
        out(erf(wide));
        out(erf(x * 1e-3));
        out(gelu(x));
        out(gelu(wide));
        out(gelu_erf(x * 4.0));
        out(relu(wide));
        out(sin(wide));
        out(cos(wide));
    }
};

struct Broadcasts {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor full = r.state("full", {3, 4, 6});
        const Tensor row = r.state("row", {6});
        const Tensor column = r.state("column", {4, 1});
        const Tensor plane = r.state("plane", {3, 1, 6});
        const Tensor outer = r.state("apart", {3, 1, 1});
        const Tensor scalar = reshape(r.state("scalar", {1}), {});
        const Tensor weight = r.weight("weight", {4, 6});
        out(full - row);
        out(row - full);
        out(full - column);
        out(plane - column);
        out(outer - row);
        out(outer - reshape(weight, {1, 4, 6}));
        out(scalar - full);
        out(full - scalar);
        out(reshape(scalar - scalar * 2.0, {1}));
        out(scalar - r.state("one", {1}));
        const Tensor many = r.state("many", {2, 300});  // more than the eager executor computes at a time
        const Tensor each = r.state("each", {2, 1});
        out(many - each);
        out(each - many * many);
        out((full - outer) * (column + row) - weight);
        out(where(less(column, row), plane, scalar));
        out(exp(scalar * 0.25) * row + exp(scalar * 0.25) * 3.0);
    }
};

/// Every way to say where elements are, and to move them.
template <DType dtype>
struct Views {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {4, 3, 10}, dtype);
        const Tensor y = r.state("y", {4, 3, 10}, dtype);
        const Tensor position = r.state("at", {1}, DType::i32);
        const Tensor positions = r.state("at.each", {4}, DType::i32);
        record_views(out, x, y);
        record_takes(out, x, y, position, positions);
        out(slice(x, 1, 2, 1) + slice(x, 1, 0, 1));
        out(reshape(permute(x, {2, 0, 1}), {120}) + r.state("z", {120}, dtype));
        out(reshape(x, {4, 1, 30, 1}));
        out(take(x + y, 2, position));
    }
};

struct WeightViews {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {4, 6});
        const Tensor weight = r.weight("w", {6, 4});
        const Tensor bias = r.weight("b", {18});
        const Tensor position = r.state("at", {1}, DType::i32);
        out(x + permute(weight, {1, 0}));
        out(x + slice(bias, 0, 0, 6));
        out(x + slice(bias, 0, 6, 6));
        out(x + slice(bias, 0, 6, 6, 2));
        out(x + reshape(slice(weight, 1, 2, 1), {6}));
        out(x + reshape(slice(weight, 1, 3, 1), {6}));
        out(x + reshape(concatenate(weight, weight, 0), {2, 4, 6}));
        out(take(weight, 0, position));
        out(take(weight, 1, position) * 2.0);
        out(weight);
        out(sum(weight * weight) + slice(bias, 0, 0, 1));
        out(x * softmax(slice(bias, 0, 0, 6)) + cumsum(slice(bias, 0, 1, 6)));
        out(r.iota(6) * x);
        out(r.iota(4, DType::i32) + r.state("whole", {4}, DType::i32));
    }
};

/// Types meet in one chain.
struct Casts {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor f = r.state("f", {3, 6});
        const Tensor d = r.state("d", {3, 6}, DType::f64);
        const Tensor i = r.state("i", {3, 6}, DType::i32);
        out(cast(f, DType::f64) * d + 1.0 / 3.0);
        out(cast(cast(f, DType::f64) * d, DType::f32) + f);
        out(cast(f * 9.0, DType::i32) * i - 3.0);
        out(cast(i, DType::f32) * f);
        out(cast(i + 1.0, DType::f64) / 7.0 + d);
        out(cast(d * 9.0, DType::i32));
        out(rotate_pairs(cast(d, DType::f32) + f) * cast(i, DType::f32));
        out(cast(rotate_pairs(f) * 2.0, DType::f64) * d);
        out(softmax(f) + cast(softmax(f + f), DType::f32));
        out(cumsum(d) * d);
        out(cumsum(slice(cast(i, DType::f64), 1, 0, 3, 2)));
        out(cumsum(f));
    }
};

/// Enough elements that kernels are split among threads: many rows, and one long row.
struct Large {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {37, 1003});
        const Tensor row = r.state("row", {1003});
        out(x * row + x);
        out(cast(cast(x, DType::f64) * 3.0, DType::f32));
        out(sum(x * row) * 0.5);
        out(softmax(x));
        out(x + 1.0);
    }
};

/// One chain too long for a kernel, and one with too many operands.
struct LongChains {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {5, 9});
        Tensor y = x;
        for (int i = 0; i < 50; ++i) {
            y = y * 0.5 + x;
        }
        out(y);
        Tensor z = x;
        for (int i = 0; i < 20; ++i) {
            z = z - r.state("more", {9}, DType::f32, i);
        }
        out(z);
    }
};

/// Functions that are made of others, and one with an end on either side.
struct Activations {
    static constexpr Index count = 21;

    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {count});
        r.tap("out erf", erf(x));
        r.tap("out gelu_erf", gelu_erf(x));
        r.tap("out relu", relu(x));
    }
};

// Contraction of a product and a sum into one rounding, which compilers do where the target can, moves results of
// chains by a rounding of a term.
constexpr Tolerance one_rounding{2e-7, 2e-6};

}  // namespace

TEST_CASE("ops that round once give the same bits on both executors") {
    check_against_eager<ExactOps<DType::f32>>({0, 0});
    check_against_eager<ExactOps<DType::f64>>({0, 0});
    check_against_eager<ExactOps<DType::i32>>({0, 0});
}

TEST_CASE("other functions are a few roundings apart") {
    check_against_eager<NearOps>({2e-6, 1e-6});
}

TEST_CASE("the error function, GELU by it, and ReLU are those of their definitions") {
    std::vector<double> x{-0.0, 0, 1e-30, -3, -1, -0.25, 0.5, 1, 3, 3.9, -3.92, 4, 9, -1e30, 1e-3, -0.01, 2, -2, 0.1};
    x.push_back(std::numeric_limits<double>::infinity());
    x.push_back(std::numeric_limits<double>::quiet_NaN());
    REQUIRE(x.size() == static_cast<std::size_t>(Activations::count));
    const auto prepare = [&](auto& executor) {
        std::transform(x.begin(), x.end(), state_of<float>(executor, "x").begin(),
                       [](double value) { return static_cast<float>(value); });
    };
    run_on_both<Activations>(prepare, [&](auto& executor) {
        const auto check = [&](std::string_view name, Tolerance tolerance, const auto& definition) {
            for (std::size_t i = 0; i < x.size(); ++i) {
                CAPTURE(name);
                CAPTURE(x[i]);
                const double expected = definition(static_cast<double>(static_cast<float>(x[i])));
                const double found = static_cast<double>(state_of<float>(executor, name)[i]);
                CHECK(tolerance.accepts(found, expected));
            }
        };
        check("out erf", {5e-7}, [](double v) { return std::erf(v); });
        // 1 + erf has the rounding of numbers around 1, also where it is near 0.
        check("out gelu_erf", {5e-7, 1e-6}, [](double v) { return v * 0.5 * (1 + std::erf(v / std::sqrt(2.0))); });
        check("out relu", {}, [](double v) { return v < 0 ? 0.0 : v; });
        CHECK(std::signbit(state_of<float>(executor, "out erf")[0]));
    });
}

TEST_CASE("operands broadcast in all positions") {
    check_against_eager<Broadcasts>(one_rounding);
    check_against_eager<Broadcasts, Passes::none()>(one_rounding);
}

TEST_CASE("views say where elements are, and copies move them, in every type") {
    check_against_eager<Views<DType::f32>>({0, 0});
    check_against_eager<Views<DType::f64>>({0, 0});
    check_against_eager<Views<DType::i32>>({0, 0});
}

TEST_CASE("views of weights are prepared before the first run") {
    check_against_eager<WeightViews>({2e-6, 2e-6});
}

TEST_CASE("types meet in one chain") {
    check_against_eager<Casts>({2e-6, 2e-6});
}

TEST_CASE("work is split among threads") {
    check_against_eager<Large>({1e-5, 1e-4}, 2);  // sums of 1003 terms in another order
}

TEST_CASE("chains that outgrow a kernel are cut") {
    check_against_eager<LongChains>({2e-6, 1e-5});
}
