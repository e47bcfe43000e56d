// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/recorder.hpp>

#include "support/plans.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

template <class Record>
Graph rewritten(Record&& record, Passes passes = Passes{}) {
    Recorder r;
    record(r);
    require_recorded(r.graph());
    return rewrite(r.take_graph(), passes);
}

void keep(Recorder& r, Tensor x) {
    r.store(r.state("out", x.shape(), x.dtype(), r.graph().size()), x);
}

const Node& only(const Graph& graph, Op op) {
    REQUIRE(count_nodes(graph, op) == 1);
    for (const Node& node : graph.nodes) {
        if (node.op == op) {
            return node;
        }
    }
    return graph.nodes.front();
}

/// It looks at what it is given.
struct Probe {
    static constexpr std::string_view name = "probe";
    static constexpr Shape shape(Shape input) { return input; }
    template <class Output, class Input>
    static void run(Output, Input) noexcept {}
};

}  // namespace

TEST_CASE("nodes that nothing depends on are dropped, states and opaque operations are not") {
    const Graph graph = rewritten(
        [](Recorder& r) {
            const Tensor x = r.state("x", {4});
            [[maybe_unused]] const Tensor unused = exp(x * 2.0);
            r.state("never read", {3});
            opaque<Probe>(log(x));
            keep(r, x + 1.0);
        },
        Passes::none());
    CHECK(count_nodes(graph, Op::opaque) == 1);
    CHECK(count_nodes(graph, Op::log) == 1);
    CHECK(count_nodes(graph, Op::exp) == 0);
    CHECK(count_nodes(graph, Op::multiply) == 0);
    CHECK(count_nodes(graph, Op::state) == 3);
    CHECK(count_nodes(graph, Op::add) == 1);
}

TEST_CASE("equal nodes are merged, but not reads of a state, for it may change in between") {
    const auto record = [](Recorder& r) {
        const Tensor x = r.state("x", {4});
        const Tensor value = softmax(x);
        keep(r, value * 2.0);
        keep(r, value * 2.0);
        keep(r, exp(x));
        r.store(x, value);
        keep(r, exp(x));
        keep(r, log(r.weight("w", {4})));
        keep(r, log(r.weight("w", {4})));
        keep(r, log(r.weight("v", {4})));
    };
    const Graph merged = rewritten(record);
    CHECK(count_nodes(merged, Op::multiply) == 1);
    CHECK(count_nodes(merged, Op::exp) == 2);
    CHECK(count_nodes(merged, Op::log) == 2);
    CHECK(count_nodes(merged, Op::weight) == 2);
    CHECK(count_nodes(merged, Op::store) == 8);
    const Graph kept = rewritten(record, Passes::none());
    CHECK(count_nodes(kept, Op::multiply) == 2);
    CHECK(count_nodes(kept, Op::log) == 3);
}

TEST_CASE("0 and -0 are two constants") {
    const auto record = [](Recorder& r) {
        const Tensor x = r.state("x", {4});
        keep(r, maximum(x, 0.0));
        keep(r, maximum(x, 0.0));
        keep(r, maximum(x, -0.0));
    };
    CHECK(count_nodes(rewritten(record), Op::constant) == 2);
    Instruction zero;
    Instruction negative = zero;
    negative.immediate = -0.0;
    CHECK(zero == Instruction{});
    CHECK(!(zero == negative));
}

TEST_CASE("what differs in any field is not merged") {
    const Graph graph = rewritten([](Recorder& r) {
        const Tensor x = softmax(r.state("x", {4, 4}));
        keep(r, slice(x, 0, 0, 2));
        keep(r, slice(x, 0, 1, 2));
        keep(r, slice(x, 0, 0, 2, 2));
        keep(r, slice(x, 1, 0, 2));
        keep(r, x * 2.0);
        keep(r, x * 3.0);
        keep(r, cast(x, DType::f64));
        keep(r, cast(x, DType::i32));
        keep(r, x * r.weight("w{}", {4}, 0));
        keep(r, x * r.weight("w{}", {4}, 1));
    });
    CHECK(count_nodes(graph, Op::slice) == 4);
    CHECK(count_nodes(graph, Op::cast) == 2);
    CHECK(count_nodes(graph, Op::multiply) == 4);
    CHECK(count_nodes(graph, Op::weight) == 2);
}

TEST_CASE("a scale that is a weight folds into the layer's weight") {
    const auto record = [](Recorder& r) {
        const Tensor x = r.state("x", {5, 6});
        keep(r, linear(x * r.weight("scale", {6}), r.weight("w", {3, 6}), r.weight("b", {3})));
    };
    const Graph graph = rewritten(record);
    const auto known = find_weight_expressions(graph);
    const Node& gemm = only(graph, Op::linear);
    CHECK(graph.input(gemm, 0).op == Op::state);
    CHECK(graph.input(gemm, 1).op == Op::multiply);
    CHECK(known[static_cast<std::size_t>(gemm.inputs[1])] != 0);
    Passes off;
    off.fold_scales = false;
    CHECK(graph.input(gemm, 0).op == Op::state);
    const Graph kept = rewritten(record, off);
    CHECK(kept.input(only(kept, Op::linear), 0).op == Op::multiply);
}

TEST_CASE("a scale of rows moves behind the layer") {
    const auto record = [](Recorder& r) {
        const Tensor x = r.state("x", {5, 6});
        keep(r, linear(x * r.state("scale", {5, 1}), r.weight("w", {3, 6}), r.weight("b", {3})));
    };
    const Graph graph = rewritten(record);
    CHECK(graph.input(only(graph, Op::linear), 0).op == Op::state);
    CHECK(only(graph, Op::multiply).shape == Shape{5, 3});
    Passes off;
    off.defer_row_scales = false;
    CHECK(only(rewritten(record, off), Op::multiply).shape == Shape{5, 6});
}

TEST_CASE("a scale that differs from row to row is no scale of the layer's weight") {
    const Graph graph = rewritten([](Recorder& r) {
        const Tensor x = r.state("x", {5, 6});
        keep(r, linear(x * r.weight("scales", {5, 6}), r.weight("w", {3, 6})));
    });
    CHECK(graph.input(only(graph, Op::linear), 0).op == Op::multiply);
    CHECK(graph.input(only(graph, Op::linear), 1).op == Op::weight);
}

TEST_CASE("four scales of rows move behind a layer, a fifth one stays") {
    const Graph graph = rewritten([](Recorder& r) {
        Tensor x = r.state("x", {5, 6});
        for (int i = 0; i < 5; ++i) {
            x = x * r.state("scale{}", {5, 1}, DType::f32, i);
        }
        keep(r, linear(x, r.weight("w", {3, 6})));
    });
    int before = 0;
    int behind = 0;
    for (const Node& node : graph.nodes) {
        before += node.op == Op::multiply && node.shape == Shape{5, 6} ? 1 : 0;
        behind += node.op == Op::multiply && node.shape == Shape{5, 3} ? 1 : 0;
    }
    CHECK(before == 1);
    CHECK(behind == 4);
}

TEST_CASE("scales stay where a store comes in between") {
    const Graph graph = rewritten([](Recorder& r) {
        const Tensor x = r.state("x", {5, 6});
        const Tensor scaled = x * r.weight("scale", {6});
        r.store(x, r.state("y", {5, 6}));
        keep(r, linear(scaled, r.weight("w", {3, 6}), r.weight("b", {3})));
    });
    CHECK(graph.input(only(graph, Op::linear), 0).op == Op::multiply);
}

TEST_CASE("a factor of rows that is stored after it was used stays before the layer") {
    const Graph graph = rewritten([](Recorder& r) {
        const Tensor factor = r.state("factor", {5, 1});
        const Tensor scaled = softmax(r.state("y", {5, 6})) * factor;  // what the softmax gives shows no state
        r.store(factor, r.state("next", {5, 1}));
        keep(r, linear(scaled, r.weight("w", {3, 6}), r.weight("b", {3})));
    });
    CHECK(graph.input(only(graph, Op::linear), 0).op == Op::multiply);
}

TEST_CASE("layers compose where that is less work") {
    const auto chain = [](Index middle, Index outer) {
        return [=](Recorder& r) {
            const Tensor x = r.state("x", {5, 8});
            const Tensor first = linear(x, r.weight("w1", {middle, 8}), r.weight("b1", {middle}));
            keep(r, linear(first, r.weight("w2", {outer, middle}), r.weight("b2", {outer})));
        };
    };
    const Graph composed = rewritten(chain(24, 2));
    CHECK(only(composed, Op::linear).shape == Shape{5, 2});
    CHECK(count_nodes(composed, Op::matmul) == 2);  // of the weights, and of the first bias
    CHECK(count_nodes(rewritten(chain(4, 24)), Op::linear) == 2);
    CHECK(count_nodes(rewritten(chain(4, 8)), Op::linear) == 2);  // as much work
    CHECK(count_nodes(rewritten(chain(5, 8)), Op::linear) == 1);
    Passes off;
    off.compose_linears = false;
    CHECK(count_nodes(rewritten(chain(24, 2), off), Op::linear) == 2);
}

TEST_CASE("layers stay two where a store or what is no bias comes in between") {
    const auto stored = [](bool is_stored) {
        return [=](Recorder& r) {
            const Tensor x = r.state("x", {5, 8});
            const Tensor first = linear(x, r.weight("w1", {24, 8}));
            if (is_stored) {
                r.store(x, r.state("next", {5, 8}));
            }
            keep(r, linear(first, r.weight("w2", {2, 24})));
        };
    };
    CHECK(count_nodes(rewritten(stored(false)), Op::linear) == 1);
    CHECK(count_nodes(rewritten(stored(true)), Op::linear) == 2);
    const auto added = [](const Shape& shape, Index columns) {
        return [=](Recorder& r) {
            const Tensor first = linear(r.state("x", {5, 8}), r.weight("w1", {columns, 8}));
            keep(r, linear(first + r.weight("more", shape), r.weight("w2", {2, 24})));
        };
    };
    CHECK(count_nodes(rewritten(added({24}, 24)), Op::linear) == 1);
    CHECK(count_nodes(rewritten(added({5, 24}, 24)), Op::linear) == 2);
    CHECK(count_nodes(rewritten(added({1}, 24)), Op::linear) == 2);
    CHECK(count_nodes(rewritten(added({24}, 1)), Op::linear) == 2);  // the column is spread
}

TEST_CASE("layers compose across a split of the last axis") {
    const Graph graph = rewritten([](Recorder& r) {
        const Tensor x = r.state("x", {5, 8});
        const Tensor first = linear(x, r.weight("w1", {24, 8}), r.weight("b1", {24}));
        keep(r, linear(reshape(first, {5, 4, 6}), r.weight("w2", {2, 6}), r.weight("b2", {2})));
    });
    CHECK(only(graph, Op::linear).shape == Shape{5, 8});
}

TEST_CASE("an expression of weights alone is known before the first run") {
    const Graph graph = rewritten([](Recorder& r) {
        const Tensor tables = sin(r.iota(6) * 0.5) * r.weight("w", {6});
        keep(r, tables * r.state("x", {6}));
        keep(r, take(r.weight("rows", {4, 6}), 0, r.state("at", {1}, DType::i32)));
    });
    const auto known = find_weight_expressions(graph);
    int known_products = 0;
    for (int id = 0; id < graph.size(); ++id) {
        const bool is_known = known[static_cast<std::size_t>(id)] != 0;
        switch (graph[id].op) {
            case Op::weight:
            case Op::constant:
            case Op::iota:
            case Op::sin: CHECK(is_known); break;
            case Op::state:
            case Op::store:
            case Op::take: CHECK(!is_known); break;
            case Op::multiply: known_products += is_known ? 1 : 0; break;
            default: break;
        }
    }
    CHECK(known_products == 2);
    CHECK(count_nodes(graph, Op::multiply) == 3);
}
