// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/student_t.hpp>

#include "cuda/ops/ops_movement_models.hpp"
#include "cuda/ops/ops_sequence_models.hpp"
#include "cuda/ops/ops_states.hpp"
#include "support/outputs.hpp"

// Models of every op that is neither a GEMM nor an attention. Small ones share a kernel with barriers between their
// steps; large ones are spread over the device and show its bandwidth.

namespace ops {

using tg::test::Outputs;

/// Operations that IEEE arithmetic rounds once.
template <DType dtype>
struct RoundedOnce {
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
            out(sqrt(c));  // in f32 the reference's is a rounding off
        }
    }
};

/// Functions that a device computes in its own way, over ranges where they saturate.
template <DType dtype>
struct Functions {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {5, 23}, dtype);
        const Tensor wide = x * 20.0;
        const Tensor positive = r.state("positive", {5, 23}, dtype);
        out(exp(x));
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
        out(asinh(wide));
        out(erf(x));
        out(erf(wide));
        out(gelu(wide * 0.25));
        out(sin(wide));
        out(cos(wide));
    }
};

/// One function over so much that it takes the whole device.
template <int which>
struct LargeFunction {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("positive", {1024, 1024});
        switch (which) {
            case 0: out(x + 1.0); break;
            case 1: out(exp(x)); break;
            case 2: out(silu(x) * r.state("row", {1024}) + r.state("y", {1024, 1024})); break;
            case 3: out(rotate_pairs(x)); break;
            case 4: out(where(less(x, 1.0), r.state("row", {1024}), x)); break;
            default: out(cast(cast(x, DType::f64) * 3.0, DType::f32)); break;
        }
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
        out(full - column);
        out(plane - column);
        out(outer - row);
        out(outer - reshape(weight, {1, 4, 6}));
        out(scalar - full);
        out(reshape(scalar - scalar * 2.0, {1}));
        out((full - outer) * (column + row) - weight);
        out(where(less(column, row), plane, scalar));
    }
};

/// Types meet in one chain, and pairs turn.
struct CastsAndPairs {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor f = r.state("f", {3, 6});
        const Tensor d = r.state("d", {3, 6}, DType::f64);
        const Tensor i = r.state("i", {3, 6}, DType::i32);
        out(cast(f, DType::f64) * d);
        out(cast(cast(f, DType::f64) * d, DType::f32) + f);
        out(cast(f * 9.0, DType::i32) * i);
        out(cast(i, DType::f32) * f);
        out(cast(i + 1.0, DType::f64) / 7.0);
        out(cast(d * 9.0, DType::i32));
        out(rotate_pairs(f));
        out(rotate_pairs(cast(d, DType::f32)) * cast(i, DType::f32));
        out(f * cast(rotate_pairs(f) * 2.0, DType::f32));
    }
};

/// Too long for one kernel, and with too many operands for one.
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

/// Operations of a user, in code that runs on the host and on the device.
struct Cube {
    static constexpr std::string_view name = "cube";
    using types = std::tuple<float, double, std::int32_t>;
    template <class T>
    static constexpr T apply(T x) {
        return x * x * x;
    }
};
struct Damped {
    static constexpr std::string_view name = "damped";
    template <class T>
    static constexpr T apply(T x, T strength) {
        return x / (x * x + strength * strength + T(1.0F));
    }
};
struct Blend {
    static constexpr std::string_view name = "blend";
    template <class T>
    static constexpr T apply(T a, T b, T share) {
        return a + share * (b - a);
    }
};
struct Custom {
    using operations = tg::OperationSet<Cube, Damped, Blend>;
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {64, 1032});
        const Tensor row = r.state("row", {1032});
        const Tensor column = r.state("column", {64, 1});
        out(tg::apply<Cube>(x));
        out(tg::apply<Damped>(x - row, column));
        out(tg::apply<Blend>(x, row, column) * 2.0);
    }
};

/// An operation of a user in other types than f32.
template <DType dtype>
struct CustomInType {
    using operations = tg::OperationSet<Cube>;
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {33, 7}, dtype);
        out(tg::apply<Cube>(x));
        out(sum(tg::apply<Cube>(x - r.state("row", {7}, dtype))));
    }
};

/// Sums and means of rows of all widths, with what is fused before and after them.
template <DType dtype>
struct Reductions {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        for (const Index width : {1, 6, 33, 517}) {
            const int number = static_cast<int>(width);
            const Tensor x = r.state("x", {3, width}, dtype, number);
            const Tensor row = r.state("row", {width}, dtype, number);
            out(sum(x));
            out(mean(x * row + 1.0) * 2.0 - r.state("column", {3, 1}, dtype, number));
            out(amax(x));
            out(amin(x * row - 100.0) * 2.0);  // less than what lies beyond a row
        }
    }
};
struct ReductionsOfViews {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {2, 3, 4, 5});
        const Tensor y = r.state("y", {2, 3, 4, 5});
        const Tensor position = r.state("at", {1}, DType::i32);
        out(mean(permute(x, {3, 1, 0, 2}) * permute(y, {3, 1, 0, 2})));
        out(sum(slice(x, 3, 0, 3, 2)));
        out(sum(take(x, 2, position) + y));
        out(sum(expand(r.state("scalar", {1, 1}), {3, 7})));
        out(reshape(sum(x * y), {2, 3, 4}));
        out(sum(sum(x) * sum(y)));
        out(x - mean(x));
        out(amax(permute(x, {3, 1, 0, 2}) * permute(y, {3, 1, 0, 2})));
        out(amax(sqrt(take(x, 2, position) - y)));  // NaN in some rows
        out(amax(r.state("whole", {5, 9}, DType::i32)));
        out(sum(cast(x, DType::f64) * cast(y, DType::f64)));
        out(cast(sum(cast(x, DType::f64)), DType::f32) * 2.0);
        out(exp(x) / sum(exp(x)));
        r.store_at(r.state("out.at", {2, 3, 9, 1}), mean(x) + 1.0, 2, position);
    }
};
/// Many rows, or few long ones.
template <Index rows, Index width>
struct LargeReduction {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {rows, width});
        out(tg::rsqrt(mean(x * x) + 1e-5));
        out(amax(x) + amin(x * 2.0));
        out(amax(cast(sqrt(x), DType::f64)));  // NaN in some rows
    }
};

template <DType dtype, Index rows, Index width>
struct RunningSum {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(cumsum(r.state("positive", {rows, width}, dtype)));
    }
};

template <Index rows, Index width>
struct Softmax {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(softmax(r.state("x", {rows, width}) * 4.0));
    }
};

/// Draws for all samples from a mixture that they share, and from one that each has of its own.
template <Index mixtures>
struct Sampling {
    static constexpr std::int32_t integer(std::string_view name, Index at) {
        return name == "seed" ? (at == 0 ? -1640531527 : 77) : name == "first" ? (at == 0 ? 1000003 : -7) : 3;
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape shape{2, mixtures, 3, 1, 32, 5};
        const tg::nn::StudentTMixture mixture{r.state("positive.freedom", shape) + 2.0, r.state("location", shape),
                                              r.state("positive.scale", shape), softmax(r.state("logits", shape))};
        out(tg::nn::sample(mixture, 64, r.state("seed", {2}, DType::i32), r.state("first", {2}, DType::i32),
                           r.state("patch", {1}, DType::i32)));
    }
};

/// Rows of tables by ids, of which some name none; places of the largest numbers, of short and long rows.
struct Vocabulary {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor ids = r.state("ids", {3, 17}, DType::i32);
        out(embedding(r.state("table", {13, 24}), ids));
        out(embedding(r.weight("table", {11, 5}), permute(ids, {1, 0})));
        out(argmax(r.state("x", {3, 5, 77})));
        out(argmax(permute(r.state("y", {40, 700}), {1, 0})));
        out(argmax(r.state("z", {4, 5001})));
        out(argmax(r.state("wide", {64, 2048})));  // too much for a segment
        out(sort(r.state("quantiles", {2, 30, 9})));
        out(sort(permute(r.state("columns", {12, 40}), {1, 0})));
        out(unpack_bits(pack_bits(r.state("signs", {300, 20})), 20));
    }
};

/// Places of the largest numbers of rows that a cluster shares, with ties, and with NaN.
struct LongSearches {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {3, 40001});
        out(argmax(x));
        out(argmax(floor(x * 3.0)));
        out(argmax(sqrt(x)));
        out(argmax(permute(r.state("columns", {49224, 2}), {1, 0})));
        const Tensor longest = r.state("longest", {2, 140003});  // several turns of each thread
        out(argmax(longest));
        out(argmax(minimum(longest, 0.0) * 0.0));  // 0 and -0, which are equal
    }
};

/// Ids of a vocabulary, of logits of few digits, so that there are ties; all samples of one row, or each of its own.
template <Index rows, Index vocabulary>
struct DrawsOfIds {
    static constexpr std::int32_t integer(std::string_view name, Index at) {
        return name == "seed" ? (at == 0 ? -1640531527 : 77) : name == "top_k" ? 50 : name == "all" ? 0 : 3;
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor logits = floor(r.state("logits", {2, rows, 3, 2, vocabulary}) * 40.0) * 0.1;
        const Tensor temperature = r.state("positive temperature", {1});
        const Tensor share = r.state("positive share", {1}) * 0.4;
        const tg::DrawNames names{r.state("seed", {2}, DType::i32), r.state("first", {2}, DType::i32),
                                  r.state("time", {1}, DType::i32)};
        const Tensor top_k = r.state("top_k", {1}, DType::i32);
        const Tensor all = r.state("all", {1}, DType::i32);
        out(tg::sample_categorical(logits, 16, {temperature, all, temperature + 1.0}, names));
        out(tg::sample_categorical(logits, 16, {temperature, top_k, temperature + 1.0}, names, 1));
        out(tg::sample_categorical(logits, 16, {temperature, all, share}, names, 2));
        out(tg::sample_categorical(logits, 16, {temperature, top_k, share}, names, 3));
        out(tg::sample_categorical(logits, 16, {temperature, top_k, share, true, true}, names, 3));
        out(tg::sample_categorical(logits, 16, {temperature, all, share, true, true}, names, 2));
    }
};

using Rows = std::tuple<
    Row<"rounded once, f32", RoundedOnce<DType::f32>, Agreement::to_the_bit>,
    Row<"rounded once, f64", RoundedOnce<DType::f64>, Agreement::to_the_bit>,
    Row<"rounded once, i32", RoundedOnce<DType::i32>, Agreement::to_the_bit>,
    Row<"functions, f32", Functions<DType::f32>>, Row<"functions, f64", Functions<DType::f64>>,
    Row<"add a number, large", LargeFunction<0>, Agreement::to_the_bit>, Row<"exp, large", LargeFunction<1>>,
    Row<"silu, multiply, add, large", LargeFunction<2>>,
    Row<"rotate_pairs, large", LargeFunction<3>, Agreement::to_the_bit>,
    Row<"where, large", LargeFunction<4>, Agreement::to_the_bit>,
    Row<"cast to f64 and back, large", LargeFunction<5>, Agreement::to_the_bit>, Row<"broadcasts", Broadcasts>,
    Row<"casts and pairs", CastsAndPairs>, Row<"long chains", LongChains>, Row<"operations of the user", Custom>,
    Row<"operations of the user, f64", CustomInType<DType::f64>>,
    Row<"operations of the user, i32", CustomInType<DType::i32>, Agreement::to_the_bit>,
    Row<"views, f32", Views<DType::f32>, Agreement::to_the_bit>,
    Row<"views, f64", Views<DType::f64>, Agreement::to_the_bit>,
    Row<"views, i32", Views<DType::i32>, Agreement::to_the_bit>,
    Row<"take, f32", Takes<DType::f32>, Agreement::to_the_bit>,
    Row<"take, f64", Takes<DType::f64>, Agreement::to_the_bit>,
    Row<"take, i32", Takes<DType::i32>, Agreement::to_the_bit>,
    Row<"store, f32", Stores<DType::f32>, Agreement::to_the_bit>,
    Row<"store, f64", Stores<DType::f64>, Agreement::to_the_bit>,
    Row<"store, i32", Stores<DType::i32>, Agreement::to_the_bit>,
    Row<"permute, large", LargePermute, Agreement::to_the_bit>,
    Row<"concatenate, large", LargeConcatenate, Agreement::to_the_bit>,
    Row<"take and store, large", LargeTakeAndStore, Agreement::to_the_bit>, Row<"views of weights", WeightViews>,
    Row<"reductions, f32", Reductions<DType::f32>>, Row<"reductions, f64", Reductions<DType::f64>>,
    Row<"reductions of views", ReductionsOfViews>, Row<"reductions of many rows", LargeReduction<4096, 256>>,
    Row<"reductions of long rows", LargeReduction<8, 131072>>, Row<"reductions of rows of 60", LargeReduction<300, 60>>,
    Row<"reductions of rows of 28", LargeReduction<700, 28>>, Row<"cumsum, f32", RunningSum<DType::f32, 5, 77>>,
    Row<"cumsum, f64", RunningSum<DType::f64, 5, 77>>, Row<"cumsum, f32, long rows", RunningSum<DType::f32, 128, 4096>>,
    Row<"cumsum, f64, long rows", RunningSum<DType::f64, 128, 4096>>,
    Row<"cumsum, f32, rows of 5001", RunningSum<DType::f32, 3, 5001>>,
    Row<"cumsum, f64, rows of 700", RunningSum<DType::f64, 2, 700>>, Row<"softmax", Softmax<7, 5>>,
    Row<"softmax, large", Softmax<4096, 256>>, Row<"softmax, rows of 700", Softmax<5, 700>>,
    Row<"softmax, rows of 33", Softmax<9, 33>>, Row<"softmax, rows of 12", Softmax<300, 12>>,
    Row<"small steps together", SmallSteps>, Row<"steps of several turns, one block", TurnsOfSteps<DType::f64, 300>>,
    Row<"steps of several turns, a cluster", TurnsOfSteps<DType::f32, 5000>>,
    Row<"steps of several turns, a cluster, f64", TurnsOfSteps<DType::f64, 5000>>,
    Row<"moments, a row a warp", Moments<3, 64, 8>>, Row<"moments of 301 rows of 128", Moments<301, 128, 64>>,
    Row<"moments of 300 steps", Moments<2, 300, 1>>, Row<"moments of 512 steps", Moments<1, 512, 32>>,
    Row<"moments of 40 rows of 2048", Moments<40, 2048, 32>>, Row<"moments of 7 rows of 4096", Moments<7, 4096, 64>>,
    Row<"moments of 5000 steps, each told", Moments<2, 5000, 1>>,
    Row<"moments of 100 groups of 12", Moments<3, 1200, 12>>, Row<"moments of long groups", Moments<2, 12288, 4096>>,
    Row<"moments of 9000 steps", Moments<1, 9000, 100>>, Row<"moments of 9000 steps alone", MomentsAlone>,
    Row<"steps of several turns, a wide block", TurnsOfSteps<DType::f64, 1000>>,
    Row<"steps of 701 rows, f32", RowSteps<DType::f32, 60>>,
    Row<"steps of 701 rows, f32, odd", RowSteps<DType::f32, 61>>,
    Row<"steps of 701 rows, f64, long", RowSteps<DType::f64, 160>>,
    Row<"steps of 7 rows of 4096, f64", RowSteps<DType::f64, 4096, 7>>,
    Row<"steps of 9 rows of 2999, f32", RowSteps<DType::f32, 2999, 9>>,
    Row<"steps of 701 rows, and others", RowStepsAndOthers<60, 701>>,
    Row<"steps of 8 rows of 3000, and others", RowStepsAndOthers<3000, 8>>,
    Row<"parts of 2804 rows, f32", RowParts<DType::f32>>, Row<"parts of 2804 rows, f64", RowParts<DType::f64>>,
    Row<"samples of one mixture", Sampling<1>, Agreement::mostly>,
    Row<"samples of a mixture each", Sampling<64>, Agreement::mostly>,
    Row<"rows by ids, largest places, bits", Vocabulary, Agreement::to_the_bit>,
    Row<"largest places of long rows", LongSearches, Agreement::to_the_bit>,
    Row<"ids of one row", DrawsOfIds<1, 1024>, Agreement::mostly>,
    Row<"ids of a row each", DrawsOfIds<16, 5003>, Agreement::mostly>>;

/// The states of a model after a run on the CPU, by its place in `Rows`.
std::vector<StateContent> eager_states(std::size_t row);

}  // namespace ops
