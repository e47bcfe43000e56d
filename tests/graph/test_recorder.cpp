// SPDX-License-Identifier: Apache-2.0
// Shapes and types that recording finds, and the first mistake that it keeps. That each mistake is a sentence of the
// compiler is shown by tests/compile_fail.
#include <cstddef>
#include <string>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/model_error.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

namespace {

/// The first mistake of what a function records.
template <class Record>
ModelError mistake_of(Record&& record) {
    Recorder r;
    record(r);
    return r.graph().error;
}

std::string text_of(const ModelError& error) {
    return std::string(error.message());
}

}  // namespace

TEST_CASE("shapes of results") {
    Recorder r;
    const Tensor x = r.state("x", {4, 1, 6});
    const Tensor y = r.state("y", {3, 6});
    const Tensor at = r.state("at", {1}, DType::i32);
    CHECK((x + y).shape() == Shape{4, 3, 6});
    CHECK((2.0 - x).shape() == x.shape());
    CHECK(select(x, y, r.constant(0)).shape() == Shape{4, 3, 6});
    CHECK(reshape(x, {8, 3}).shape() == Shape{8, 3});
    CHECK(slice(x, -1, 1, 3, 2).shape() == Shape{4, 1, 3});
    CHECK(permute(x, {2, 0, 1}).shape() == Shape{6, 4, 1});
    CHECK(expand(y, {5, 3, 6}).shape() == Shape{5, 3, 6});
    CHECK(concatenate(y, y, 0).shape() == Shape{6, 6});
    CHECK(take(x, 2, at).shape() == Shape{4, 1, 1});
    CHECK(sum(x).shape() == Shape{4, 1, 1});
    CHECK(mean(y).shape() == Shape{3, 1});
    CHECK(softmax(y).shape() == y.shape());
    CHECK(linear(x, r.weight("w", {9, 6}), r.weight("b", {9})).shape() == Shape{4, 1, 9});
    CHECK(r.iota(5).shape() == Shape{5});
    CHECK(x.extent(-1) == 6);
    CHECK(r.graph().error.kind == ModelErrorKind::none);
}

TEST_CASE("types of results") {
    Recorder r;
    const Tensor d = r.state("d", {4}, DType::f64);
    CHECK((d * 2.0).dtype() == DType::f64);
    CHECK(less(d, 0.0).dtype() == DType::f64);
    CHECK(cast(d, DType::i32).dtype() == DType::i32);
    CHECK(cast(d, DType::f64).id() == d.id());  // nothing to do
    CHECK(r.iota(3, DType::i32).dtype() == DType::i32);
    CHECK(r.graph().error.kind == ModelErrorKind::none);
}

TEST_CASE("what is recorded runs in the order of its nodes") {
    Recorder r;
    const Tensor x = r.state("x", {4});
    r.store(x, exponential(x) * 2.0);
    r.tap("seen", x, 3);
    const Graph& graph = r.graph();
    for (int id = 0; id < graph.size(); ++id) {
        for (int i = 0; i < graph[id].input_count; ++i) {
            CHECK(graph[id].inputs[static_cast<std::size_t>(i)] < id);
        }
    }
    CHECK(graph[graph.size() - 1].op == Op::store);
    CHECK(graph.input(graph[graph.size() - 1], 0).name == "seen");
    CHECK(graph.input(graph[graph.size() - 1], 0).layer == 3);
}

TEST_CASE("a state is one node, however often it is named, and each layer has its own") {
    Recorder r;
    const Tensor x = r.state("x", {4});
    CHECK(r.state("x", {4}).id() == x.id());
    CHECK(r.state("x", {4}, DType::f32, 0).id() != x.id());
    CHECK(r.state("x", {4}, DType::f32, 1).id() != r.state("x", {4}, DType::f32, 0).id());
    CHECK(r.graph().error.kind == ModelErrorKind::none);
}

TEST_CASE("the first mistake is kept, with its figures") {
    const ModelError error = mistake_of([](Recorder& r) {
        const Tensor x = r.state("x", {4, 6});
        const Tensor wrong = x + r.state("y", {4, 5});
        [[maybe_unused]] const Tensor later = reshape(wrong, {7});
    });
    CHECK(error.kind == ModelErrorKind::shapes_do_not_broadcast);
    CHECK(text_of(error) == "add: [4, 6] and [4, 5]");
}

TEST_CASE("mistakes say what was found") {
    const auto text = [](auto&& record) { return text_of(mistake_of(record)); };
    CHECK(text([](Recorder& r) {
              reshape(r.state("x", {4, 6}), {5, 5});
          }) == "reshape: from [4, 6] (24 elements) to [5, 5] (25 elements)");
    CHECK(text([](Recorder& r) {
              slice(r.state("x", {4, 6}), 1, 4, 3);
          }) == "slice: indices 4 to 6 of axis 1 of shape [4, 6]");
    CHECK(text([](Recorder& r) { sum(reshape(r.state("x", {1}), {})); }) == "axis -1 of a tensor of shape []");
    CHECK(text([](Recorder& r) {
              r.store(r.state("cache", {4, 6}), r.state("x", {3, 6}), 0, 2);
          }) == "store into 'cache': writing 3 positions from 2 into a capacity of 4");
    CHECK(text([](Recorder& r) {
              [[maybe_unused]] const Tensor x = r.state("x", {4}) * r.state("n", {4}, DType::i32);
          }) == "multiply: f32 and i32; cast one of them");
}

TEST_CASE("figures of a mistake that is long are cut, never more") {
    ModelError error;
    error << "n = " << Index{-9223372036854775807} << ", " << Index{0};
    CHECK(text_of(error) == "n = -9223372036854775807, 0");
    for (int i = 0; i < 100; ++i) {
        error << "0123456789";
    }
    CHECK(error.message().size() == error.text.size());
}
