// SPDX-License-Identifier: Apache-2.0
// Weights of executors that run node by node: one block of memory for all that read the same, as long as one does.
#include <memory>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/arena.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/bound_graph.hpp>
#include <totograph/exec/cpu/shared_tensors.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/record/elementwise.hpp>
#include <totograph/graph/recorder.hpp>

#include "support/tensor_sources.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// Counts what is read.
class CountedTensors final : public MadeUpTensors {
public:
    void read(const std::string& name, const Shape& shape, std::span<float> values) const override {
        ++reads;
        MadeUpTensors::read(name, shape, values);
    }
    mutable int reads = 0;
};

Graph graph_of(auto&& record) {
    Recorder r;
    record(r);
    return r.take_graph();
}

using Tensors = std::vector<std::shared_ptr<const Arena>>;

}  // namespace

TEST_CASE("equal expressions are one block, which goes with the last who reads it") {
    const auto record = [](Recorder& r) {
        const Tensor w = r.weight("w", {30, 20});
        const Tensor s = r.weight("s", {20});
        w* s;
    };
    const Graph first = graph_of(record);
    const Graph second = graph_of([&](Recorder& r) {
        r.weight("other", {5});
        record(r);
    });
    const std::vector<int> first_nodes{0, 2};
    const std::vector<int> second_nodes{0, 1, 3};
    const CountedTensors source;
    cpu::SharedTensors shared;
    Tensors a = shared.get(GraphView{first.nodes}, first_nodes, source);
    CHECK(source.reads == 3);  // w, and w times s
    Tensors b = shared.get(GraphView{second.nodes}, second_nodes, source);
    CHECK(source.reads == 4);
    REQUIRE(a.size() == 2);
    REQUIRE(b.size() == 3);
    CHECK(a[0] == b[1]);
    CHECK(a[1] == b[2]);
    const auto* w = reinterpret_cast<const float*>(a[0]->data());
    const auto* product = reinterpret_cast<const float*>(a[1]->data());
    CHECK(w[33] == MadeUpTensors::value("w", 33));
    CHECK(product[33] == w[33] * MadeUpTensors::value("s", 13));
    const std::weak_ptr<const Arena> watched = a[0];
    a.clear();
    CHECK_FALSE(watched.expired());
    b.clear();
    CHECK(watched.expired());
    a = shared.get(GraphView{first.nodes}, first_nodes, source);
    CHECK(source.reads == 7);
}

TEST_CASE("graphs that run node by node share the weights that they read") {
    const Graph graph = graph_of([](Recorder& r) {
        r.store(r.state("out", {30, 20}), r.state("in", {30, 20}) + r.weight("w", {30, 20}) * 2.0);
    });
    const auto source = std::make_shared<const CountedTensors>();
    const Weights weights(source);
    std::vector<float> in(600, 1.0F);
    std::vector<float> out(600);
    const auto state = [&](const Node& node) -> void* { return node.name == "in" ? in.data() : out.data(); };
    const cpu::BoundGraph first(GraphView{graph.nodes}, weights, state);
    const int reads = source->reads;
    const cpu::BoundGraph second(GraphView{graph.nodes}, weights, state);
    CHECK(source->reads == reads);
    CHECK(first.weight_bytes() == second.weight_bytes());
    second.run();
    CHECK(out[77] == 1.0F + MadeUpTensors::value("w", 77) * 2.0F);
}
