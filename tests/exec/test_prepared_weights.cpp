// SPDX-License-Identifier: Apache-2.0
// Which prepared weights are one: those of one expression, whatever their hashes and names say.
#include <chrono>
#include <cstddef>
#include <future>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/log.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/prepared_weights.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/graph/plan/plan.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/recorder.hpp>

#include "io/support.hpp"
#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// Two operations that share a name.
struct Twice {
    static constexpr std::string_view name = "scale";
    template <class T>
    static T apply(T x) {
        return x + x;
    }
};
struct Thrice {
    static constexpr std::string_view name = "scale";
    template <class T>
    static T apply(T x) {
        return x + x + x;
    }
};

/// One weight under both, as a factor and as the weights of GEMMs.
struct SameNames {
    using operations = OperationSet<Twice, Thrice>;
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {2, 4});
        const Tensor factor = r.weight("factor", {4});
        const Tensor weight = r.weight("weight", {4, 4});
        const Tensor bias = r.weight("bias", {4});
        r.tap("out factor 2", x * apply<Twice>(factor));
        r.tap("out factor 3", x * apply<Thrice>(factor));
        r.tap("out of linear 2", linear(x, apply<Twice>(weight), bias));
        r.tap("out of linear 3", linear(x, apply<Thrice>(weight), bias));
    }
};

Graph graph_of(auto&& record) {
    Recorder r;
    record(r);
    return r.take_graph();
}

/// The text of an expression that a function records last.
std::string text_of(auto&& record, bool packed = false) {
    const Graph graph = graph_of(record);
    PreparedWeight weight;
    weight.node = graph.size() - 1;
    weight.packed = packed;
    return WeightExpression(GraphView{graph.nodes}, weight).text();
}

}  // namespace

TEST_CASE("operations of equal names and other code are other weights") {
    run_on_both<SameNames>(
        [](auto&) {},
        [](auto& executor) {
            const auto x = state_of<float>(executor, "x");
            for (std::size_t row = 0; row < 2; ++row) {
                for (std::size_t column = 0; column < 4; ++column) {
                    const std::size_t at = row * 4 + column;
                    double product = 0;
                    for (std::size_t k = 0; k < 4; ++k) {
                        product +=
                            static_cast<double>(x[row * 4 + k]) * weight("weight", static_cast<Index>(column * 4 + k));
                    }
                    const auto column_index = static_cast<Index>(column);
                    const double scaled = static_cast<double>(x[at]) * weight("factor", column_index);
                    const double bias = weight("bias", column_index);
                    CHECK(state_of<float>(executor, "out factor 2")[at] == near(2 * scaled));
                    CHECK(state_of<float>(executor, "out factor 3")[at] == near(3 * scaled));
                    CHECK(state_of<float>(executor, "out of linear 2")[at] == near(2 * product + bias));
                    CHECK(state_of<float>(executor, "out of linear 3")[at] == near(3 * product + bias));
                }
            }
        });
}

TEST_CASE("weights whose hashes collide stay apart, and equal ones are shared") {
    const Graph graph = graph_of([](Recorder& r) {
        r.weight("one", {2, 2});
        r.weight("other", {2, 2});
    });
    PreparedWeight one;
    one.identity = 42;
    PreparedWeight other;
    other.node = 1;
    other.identity = 42;
    cpu::PreparedWeights<float> store;
    const Weights weights = made_up_weights();
    const GraphView view{graph.nodes};
    const std::vector<PreparedWeight> wanted{one, other, one};
    const auto prepared = store.get(view, wanted, weights.source());
    REQUIRE(prepared.size() == 3);
    CHECK(prepared[0] != prepared[1]);
    CHECK(prepared[0] == prepared[2]);
    CHECK(*reinterpret_cast<const float*>(prepared[0]->plain.data()) == static_cast<float>(weight("one", 0)));
    CHECK(*reinterpret_cast<const float*>(prepared[1]->plain.data()) == static_cast<float>(weight("other", 0)));
    CHECK(store.get(view, std::vector<PreparedWeight>{other}, weights.source())[0] == prepared[1]);
    CHECK(store.bytes() == 2 * 4 * sizeof(float));
}

TEST_CASE("a log sink may ask for prepared weights, too") {
    const Graph graph = graph_of([](Recorder& r) { r.weight("one", {2, 2}); });
    cpu::PreparedWeights<float> store;
    const Weights weights = made_up_weights();
    std::promise<std::size_t> bytes;
    std::future<std::size_t> told = bytes.get_future();
    std::thread other;
    bool is_told = false;
    set_logs("capture");
    set_log_sink([&](LogTopic, std::string_view) {
        other = std::thread([&] { bytes.set_value(store.bytes()); });
        is_told = told.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    });
    (void)store.get(GraphView{graph.nodes}, std::vector<PreparedWeight>{PreparedWeight{}}, weights.source());
    set_log_sink({});
    set_logs("");
    REQUIRE(other.joinable());
    other.join();
    CHECK(is_told);
    CHECK(told.get() == 4 * sizeof(float));
}

TEST_CASE("null pointers are refused where they are given") {
    check_error(ErrorCode::invalid_argument, {"Weights", "null pointer"}, [] { (void)Weights(nullptr); });
    using Executor = Fused<Program<SameNames>>;
    check_error(ErrorCode::invalid_argument, {"no thread pool", "null pointer"},
                [] { const Executor executor(made_up_weights(), nullptr); });
}

TEST_CASE("an expression is told by all that it computes, and by nothing else") {
    const auto base = [](Recorder& r) { exp(r.weight("w{}", {4, 4}, 1) * r.constant(2)); };
    const std::string text = text_of(base);
    CHECK(text == text_of(base));
    CHECK(text != text_of(base, true));
    CHECK(text != text_of([](Recorder& r) { exp(r.weight("w{}", {4, 4}, 2) * r.constant(2)); }));
    CHECK(text != text_of([](Recorder& r) { exp(r.weight("v{}", {4, 4}, 1) * r.constant(2)); }));
    CHECK(text != text_of([](Recorder& r) { exp(r.weight("w{}", {4, 2}, 1) * r.constant(2)); }));
    CHECK(text != text_of([](Recorder& r) { exp(r.weight("w{}", {4, 4}, 1) * r.constant(3)); }));
    CHECK(text != text_of([](Recorder& r) { exp(r.weight("w{}", {4, 4}, 1) + r.constant(2)); }));
    // Other nodes of the program, and equal nodes that were not merged, change nothing.
    const auto sum_of_equals = [](Recorder& r) {
        const Tensor a = r.weight("w", {4});
        const Tensor b = r.weight("w", {4});
        exp(a) + exp(b);
    };
    const auto sum_of_one = [](Recorder& r) {
        r.weight("something else", {3});
        const Tensor a = exp(r.weight("w", {4}));
        a + a;
    };
    CHECK(text_of(sum_of_equals) == text_of(sum_of_one));
}
