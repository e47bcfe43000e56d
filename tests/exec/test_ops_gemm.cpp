// SPDX-License-Identifier: Apache-2.0
// Linear layers with what is fused, folded and composed around them: the fused executor against the eager one.
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

/// A layer with weights of its own, or with those of a number.
constexpr Tensor layer(Tensor x, Index columns, int number = -1) {
    Recorder& r = x.recorder();
    number = number < 0 ? r.graph().size() : number;
    return linear(x, r.weight("w{}", {columns, x.extent(-1)}, number), r.weight("b{}", {columns}, number));
}

struct Widths {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        for (const Index columns : {1, 6, 8, 20, 33}) {
            out(layer(r.state("x", {7, 5}), columns));
        }
        out(layer(r.state("x.deep", {2, 3, 19}), 6));
        out(layer(r.state("x.one", {1, 1}), 6));
        out(layer(r.state("x.vector", {9}), 6));
        out(layer(r.state("x.many", {61, 4}), 8));
    }
};

/// An epilogue along two axes, whose stretches begin anywhere in a tile, also in the last row of a full block.
struct Stretches {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor columns = layer(r.state("x", {96, 4}), 1026);
        out(reshape(columns, {96, 342, 3}) * r.state("inner", {3}));
    }
};

/// What x can be: views with even rows are read where they are, others are copied.
struct Inputs {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {4, 3, 10});
        const Tensor position = r.state("at", {1}, DType::i32);
        out(layer(slice(x, 2, 4, 6), 8));
        out(layer(slice(x, 0, 1, 2, 2), 8));
        out(layer(slice(x, 1, 1, 1), 8));
        out(layer(reshape(slice(x, 1, 1, 1), {4, 10}), 8));
        out(layer(reshape(slice(x, 1, 0, 2), {8, 10}), 8));       // uneven rows
        out(layer(reshape(slice(x, 1, 1, 2), {4, 2, 10}), 8));    // uneven rows, the same shape
        out(layer(reshape(permute(x, {1, 0, 2}), {12, 10}), 8));  // uneven rows
        out(layer(reshape(permute(x, {0, 2, 1}), {40, 3}), 8));   // rows that are not contiguous
        out(layer(reshape(x, {6, 20}), 8));
        out(layer(slice(x, 1, 0, 2), 8));
        out(layer(permute(x, {0, 2, 1}), 8));
        out(layer(slice(x, 2, 0, 5, 2), 8));
        out(layer(take(x, 1, minimum(position, 2.0)), 8));
        out(layer(take(x, 0, position), 8));
        out(layer(expand(slice(x, 0, 2, 1), {4, 3, 10}), 8) + 1.0);
        out(layer(x * 2.0, 8));
        out(layer(softmax(x), 8));
    }
};

/// What follows a GEMM.
struct Epilogues {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {2, 4, 6});
        const Tensor rows = r.state("rows", {2, 4, 20});
        out(silu(layer(x, 20)) * rows + 1.0);
        out(rows - layer(x, 20) * r.state("column", {4, 1}));
        out(rotate_pairs(layer(x, 20)) + rows);
        out(cast(layer(x, 20) * 2.0, DType::f64) * r.state("d", {20}, DType::f64));
        out(layer(x, 20) * cast(r.state("i", {20}, DType::i32), DType::f32));
        out(sum(layer(x, 20) * rows) * 0.5);
        out(layer(x, 20) + layer(rows, 20));
        // A value used twice is computed once, and its users are kernels of their own.
        const Tensor shared = layer(x, 20) + 1.0;
        out(exp(shared * 0.1));
        out(shared * rows);
        // Broadcast after a GEMM: the chain is larger than the GEMM.
        out(layer(r.state("x.single", {1, 4, 6}), 20) * rows);
        out(reshape(layer(x, 20), {8, 20}) * 2.0);
        out(layer(layer(x, 20), 33));
    }
};

/// Two GEMMs of one input that meet.
struct Gated {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        for (const Index columns : {1, 4, 6, 8, 20}) {
            const Tensor x = r.state("x", {5, 7});
            const Tensor gate = layer(x, columns);
            const Tensor up = layer(x, columns);
            out(silu(gate) * up);
        }
        const Tensor x = r.state("x", {5, 7});
        out(layer(x, 8) + layer(x, 8) * layer(x, 8));
        out(layer(x, 8, 0) * layer(x, 8, 0));
        const Tensor gate = layer(x, 8);
        out(sigmoid(gate) * layer(x, 8));
        out(gate);
        const Tensor packed = r.weight("packed", {12, 7});
        const Tensor bias = r.weight("packed.bias", {12});
        out(silu(linear(x, slice(packed, 0, 0, 6), slice(bias, 0, 0, 6))) *
            linear(x, slice(packed, 0, 6, 6), slice(bias, 0, 6, 6)));
    }
};

/// GEMMs that write parts of a concatenation: beside an input, behind an elementwise step, beside another GEMM, in rows
/// that lie unevenly, and beside a weight that is spread over rows.
struct SideBySide {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {9, 7});
        out(layer(concatenate(silu(layer(x, 20)), x, 1), 8));
        out(layer(concatenate(exp(x), silu(layer(x, 20)), 1), 8));
        out(layer(concatenate(layer(x, 12) * 0.5, sigmoid(layer(x, 5)), 1), 8));
        out(concatenate(layer(x, 6) + 1.0, slice(x, 1, 0, 6), 0) * 2.0);
        const Tensor gate = layer(x, 8);
        out(layer(concatenate(silu(gate) * layer(x, 8), x, 1), 8));
        const Tensor series = r.state("series", {3, 5, 10});
        const Tensor unknown = expand(r.weight("unknown", {16}), {3, 2, 16});
        out(layer(concatenate(silu(layer(series, 16)), unknown, 1), 8));
        out(layer(concatenate(unknown, silu(layer(series, 16)), 1), 8));
        const Tensor twice = silu(layer(x, 20));
        out(layer(concatenate(twice, x, 1), 8));
        out(twice + 1.0);
        // What two share; the whole of the second part comes first.
        const Tensor shared = expand(r.weight("shared", {4}), {9, 4});
        const Tensor first = layer(x, 12);
        const Tensor second = layer(x, 13);
        const Tensor of_second = concatenate(second, shared, 1);
        const Tensor of_first = concatenate(first, shared, 1);
        out(layer(of_second, 8));
        out(layer(of_first, 8));
    }
};

/// The last axis is split inside a kernel, as a rotary embedding does.
struct Splits {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {2, 3, 8});
        const auto split = [](Tensor y, Index inner) {
            return reshape(y, with_last(with_axis(y.shape(), -1, y.extent(-1) / inner), inner));
        };
        const auto rotary = [&](Tensor y, Index inner) {
            const Tensor heads = split(y, inner);
            const Tensor cosines = r.state("cosines", {3, 1, inner}, DType::f32, static_cast<int>(inner));
            const Tensor sines = r.state("sines", {3, 1, inner}, DType::f32, static_cast<int>(inner));
            return reshape(heads * cosines + rotate_pairs(heads) * sines, y.shape());
        };
        out(rotary(layer(x, 20), 10));
        out(rotary(layer(x, 24), 6));
        out(rotary(layer(x, 16), 8));
        out(rotary(layer(x, 8), 8));
        out(rotary(layer(x, 8), 2));
        out(rotary(x * 2.0, 4));
        out(split(layer(x, 20) * 2.0, 4) * r.state("inner", {4}) - 1.0);
        out(split(layer(x, 20), 4) * r.state("apart", {5, 1}));
        // Pairs before the split must not be parted by it.
        out(split(rotate_pairs(layer(x, 18)), 3) * r.state("three", {3}));
        // One tensor walked through before and after the split.
        const Tensor y = r.state("y", {2, 2, 8});
        const Tensor both = r.state("both", {2, 1});
        out(split(layer(y, 8) * both, 4) * both);
        // The split value is used beside the chain, too.
        const Tensor beside = split(layer(x, 20) + 1.0, 4);
        out(beside * r.state("inner", {4}));
        out(sum(beside));
    }
};

constexpr Tensor norm(Tensor x, Tensor scale) {
    return x * rsqrt(mean(x * x) + 1e-5) * scale;
}

/// Scales that move into weights, or behind the GEMM.
struct Scales {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {2, 5, 6});
        const Tensor scale = r.weight("scale", {6});
        out(layer(norm(x, scale), 8));
        const Tensor normed = norm(x + 1.0, scale);
        out(layer(normed, 8) * layer(normed, 8));
        out(layer(normed, 8) + sum(normed));
        out(layer(scale * x, 8));
        out(layer(x * reshape(scale, {1, 6}), 8));
        out(layer(x * r.state("one.scale", {6}), 8));
        out(layer(x * r.state("row.scale", {5, 1}), 8));
        out(layer(x * r.state("each.scale", {2, 5, 1}), 8));
        out(layer(x * 3.0, 8));
        out(layer(r.state("column", {2, 5, 1}) * r.weight("one", {1}), 8));
        out(layer(r.state("column", {2, 5, 1}) * r.state("each.scale", {2, 5, 1}), 8));
        out(layer(r.state("single", {1, 6}) * r.state("tall", {5, 1}), 8));
        out(layer(x * scale * (x * scale), 8));
    }
};

/// Layers without anything between them.
struct Composed {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {2, 5, 8});
        const auto bare = [&](Tensor y, Index columns) {
            Node node;
            node.op = Op::linear;
            node.shape = with_axis(y.shape(), -1, columns);
            node.inputs[0] = y.id();
            node.inputs[1] = r.weight("bare{}", {columns, y.extent(-1)}, r.graph().size()).id();
            node.input_count = 2;
            return r.add(node);
        };
        out(layer(layer(x, 24), 2));
        out(layer(bare(x, 24), 2));
        out(bare(bare(x, 24), 2));
        const auto unembed = [&](Tensor wide) { return reshape(wide, {2, 5, 4, 6}); };
        const Tensor wide = unembed(layer(x, 24));
        out(layer(wide, 3));
        out(softplus(layer(wide, 3)) + 2.0);
        out(softmax(layer(wide, 3)));
        out(layer(unembed(bare(x, 24)), 3));
        out(layer(norm(x, r.weight("scale", {8})), 24));
        out(layer(unembed(layer(norm(x, r.weight("scale", {8})), 24)), 1));
        // Not composable: something lies between, or it would be more work.
        out(layer(silu(layer(x, 24)), 2));
        out(layer(layer(x, 4), 30));
        out(layer(reshape(layer(x, 24), {2, 15, 8}), 2));
        const Tensor spread = layer(x, 1) + r.weight("levels", {24});  // one column, and a number for each of 24
        out(layer(spread, 2));
        out(layer(unembed(spread), 3));
    }
};

/// GEMMs that go straight into a part of a state.
struct IntoStates {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {2, 3, 6});
        const Tensor position = r.state("at", {1}, DType::i32);
        const Tensor each = r.state("at.each", {2}, DType::i32);
        r.store(r.state("out.begin", {2, 9, 10}), layer(x, 10), 1, 4);
        r.store_at(r.state("out.at", {2, 9, 10}), layer(x, 10), 1, position);
        r.store_at(r.state("out.each", {2, 9, 10}), layer(x, 10), 1, each);
        r.store_at(r.state("out.computed", {2, 9, 10}), layer(x, 10), 1, position + 1.0);
        r.store(r.state("out.last", {2, 3, 30}), layer(x, 10), 2, 7);
        r.store(r.state("out.repeated", {2, 3, 10}), layer(slice(x, 1, 0, 1), 10), 0, 0);
        r.store_at(r.state("out.split", {2, 9, 12}),
                   reshape(reshape(layer(x, 12), {2, 3, 3, 4}) * r.state("inner", {4}), {2, 3, 12}), 1, position);
        const Tensor twice = layer(x, 10);  // two stores of one value
        r.store(r.state("out.one", {2, 9, 10}), twice, 1, 1);
        r.store(r.state("out.two", {2, 3, 10}), twice);
    }
};

// Sums of up to 33 products of numbers up to 2 and 1, in another order and, for folded and composed layers, with other
// intermediate roundings.
constexpr Tolerance gemms{4e-6, 2e-5};

}  // namespace

TEST_CASE("layers of all widths") {
    check_against_eager<Widths>(gemms);
    check_against_eager<Widths>(gemms, 2);
}

TEST_CASE("epilogues of linear layers along two axes") {
    check_against_eager<Stretches>(gemms);
}

TEST_CASE("layers of views") {
    check_against_eager<Inputs>(gemms);
}

TEST_CASE("chains after GEMMs") {
    check_against_eager<Epilogues>({4e-6, 1e-4});
}

TEST_CASE("gated pairs of GEMMs") {
    check_against_eager<Gated>(gemms);
}

TEST_CASE("GEMMs side by side") {
    check_against_eager<SideBySide>({4e-6, 1e-4});
    check_against_eager<SideBySide>({4e-6, 1e-4}, 2);
}

TEST_CASE("a split of the last axis inside a kernel") {
    check_against_eager<Splits>(gemms);
}

TEST_CASE("scales fold into weights and rows") {
    check_against_eager<Scales>({4e-6, 1e-4});
    check_against_eager<Scales, Passes::none()>({4e-6, 1e-4});
}

TEST_CASE("layers compose") {
    check_against_eager<Composed>({4e-6, 1e-4});
}

TEST_CASE("GEMMs write straight into states") {
    check_against_eager<IntoStates>(gemms);
}
