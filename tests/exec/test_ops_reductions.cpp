// SPDX-License-Identifier: Apache-2.0
// Sums, means and extremes with what is fused before and after them: the fused executor against the eager one.
#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/recorder.hpp>

#include "support/executors.hpp"
#include "support/outputs.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// Widths around those of packets; sums alone, with a prologue, an epilogue, and both.
template <DType dtype>
struct Widths {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        for (const Index width : {1, 6, 8, 20, 33}) {
            const int number = static_cast<int>(width);
            const Tensor x = r.state("x", {3, width}, dtype, number);
            const Tensor row = r.state("row", {width}, dtype, number);
            out(sum(x));
            const Tensor column = r.state("column", {3, 1}, dtype, number);
            out(sum(x * row + 1.0) * 2.0 - column);
            out(amax(x));
            out(amax(x * row - 100.0) * 2.0 - column);  // less than what lies beyond a row
            if constexpr (dtype != DType::i32) {        // integers have no mean, and the smallest no negative
                out(amin(x));
                out(mean(x * row + 1.0) * 2.0 - column);
            }
        }
    }
};

struct Shapes {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {2, 3, 4, 5});
        const Tensor y = r.state("y", {2, 3, 4, 5});
        const Tensor flat = r.state("flat", {11});
        const Tensor position = r.state("at", {1}, DType::i32);
        out(sum(flat));
        out(sum(flat) * flat);
        out(mean(permute(x, {3, 1, 0, 2})));
        out(mean(permute(x, {3, 1, 0, 2}) * permute(y, {3, 1, 0, 2})));
        out(sum(slice(x, 2, 1, 2) * slice(y, 2, 0, 2)));
        out(sum(slice(x, 3, 0, 3, 2)));
        out(sum(take(x, 2, position) + y));
        out(sum(expand(r.state("scalar", {1, 1}), {3, 7})));
        out(sum(reshape(x * y, {6, 20})));
        out(reshape(sum(x * y), {2, 3, 4}));
        out(reshape(sum(x) + sum(y), {24}));
        out(sum(sum(x) * sum(y)));
        out(sum(x - mean(x)));
        out(amax(permute(x, {3, 1, 0, 2}) * permute(y, {3, 1, 0, 2})));
        out(amax(reshape(amax(slice(x, 3, 0, 3, 2)), {2, 12})));
        out(amin(x) - amax(take(x, 2, position) + y));
        out(amax(expand(r.state("scalar", {1, 1}), {3, 7})));
        const Tensor total = sum(exp(x));
        out(total);
        out(exp(x) / total);
        out(log(total) + sum(y) * mean(x));
        const Tensor squares = x * x;  // used by the reduction and beside it
        out(squares - mean(squares));
        // A sum over one element, which broadcasts like any other.
        out(sum(sum(x)) + x);
    }
};

/// A sum in f64 of f32 values, integers, and what happens to them afterwards.
struct Types {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor f = r.state("f", {4, 9});
        const Tensor i = r.state("i", {4, 9}, DType::i32);
        const Tensor d = r.state("d", {4, 9}, DType::f64);
        out(sum(cast(f, DType::f64) * d));
        out(cast(sum(cast(f, DType::f64)), DType::f32) * 2.0);
        out(sum(i) * 2.0);
        out(cast(amax(i), DType::f32) * 0.5);
        out(amin(cast(f, DType::f64) * d));
        out(cast(amax(cast(f, DType::f64)), DType::f32) * 2.0);
        out(cast(sum(i), DType::f32) * 0.5);
        out(cast(mean(f), DType::f64) + 1.0);
        out(sum(rotate_pairs(slice(f, 1, 0, 8)) * slice(f, 1, 1, 8)));
        out(cast(sum(rotate_pairs(slice(f, 1, 0, 8))), DType::f64) * 3.0);
        out(sum(rotate_pairs(cast(slice(d, 1, 0, 8), DType::f32))));
    }
};

/// More operands before and after than one kernel has.
struct ManyOperands {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        Tensor before = r.state("before", {4, 6});
        for (int i = 0; i < 9; ++i) {
            before = before * r.state("row", {6}, DType::f32, i);
        }
        Tensor after = sum(before);
        for (int i = 0; i < 9; ++i) {
            after = after - r.state("column", {4, 1}, DType::f32, i);
        }
        out(after);
    }
};

/// Reductions whose results go straight into a part of a state.
struct IntoStates {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, 4, 5});
        const Tensor position = r.state("at", {1}, DType::i32);
        r.store(r.state("out.begin", {3, 9, 1}), sum(x * x), 1, 2);
        r.store_at(r.state("out.at", {3, 9, 1}), mean(x) + 1.0, 1, position);
        r.store(r.state("out.largest", {3, 9, 1}), amax(x), 1, 4);
        r.store(r.state("out.flat", {3, 9}), reshape(sum(x), {3, 4}), 1, 3);
        // The state that a reduction reads is the one that it writes, further along.
        const Tensor self = r.state("self", {6, 1});
        r.store(self, sum(slice(self, 0, 0, 4) * 2.0) + 1.0, 0, 1);
    }
};

// Twenty or so terms of size 4 in another order.
constexpr Tolerance sums{2e-6, 4e-6};

}  // namespace

TEST_CASE("sums, means and extremes of all widths, in every type") {
    check_against_eager<Widths<DType::f32>>(sums);
    check_against_eager<Widths<DType::f64>>({0, 0});
    check_against_eager<Widths<DType::i32>>({0, 0});
}

TEST_CASE("reductions of views, broadcasts and other reductions") {
    check_against_eager<Shapes>({4e-6, 4e-5});  // differences of sums
}

TEST_CASE("reductions whose types change before or after") {
    check_against_eager<Types>(sums);
}

TEST_CASE("a reduction with more operands than a kernel has is cut") {
    check_against_eager<ManyOperands>({4e-6, 1e-3});  // products of ten factors up to 2
}

TEST_CASE("reductions write straight into states") {
    check_against_eager<IntoStates>(sums);
}
