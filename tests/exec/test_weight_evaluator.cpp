// SPDX-License-Identifier: Apache-2.0
// Weights computed in ranges, on several threads and straight from a source's parts, are those of the reference
// implementation to the bit.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/evaluate.hpp>
#include <totograph/exec/row_major_weights.hpp>
#include <totograph/exec/store_elements.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/weight_evaluator.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/record/elementwise.hpp>
#include <totograph/graph/record/movement.hpp>
#include <totograph/graph/recorder.hpp>

#include "support/tensor_sources.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// GEMMs of the reference implementation, a part of the batch at a time.
struct PlainMatmul {
    static void evaluate(const Node& node, std::span<const cpu::TensorData> inputs, const cpu::TensorData& out) {
        cpu::evaluate(node, inputs, out);
    }
    template <class Ranges>
    static void compose(Team& team, const cpu::TensorData& a, const Ranges& b, const cpu::TensorData& out) {
        team.for_each(b.shape[0], [&](Index part, int) {
            const Index size = b.shape[1] * b.shape[2];
            std::vector<float> buffer(static_cast<std::size_t>(size));
            const float* values = b(part * size, size, buffer.data());
            const cpu::TensorData right{const_cast<float*>(values), DType::f32, Shape{1, b.shape[1], b.shape[2]}};
            const Shape shape{1, out.shape[1], out.shape[2]};
            const cpu::TensorData inputs[] = {a, right};
            Node node;
            node.op = Op::matmul;
            cpu::evaluate(node, inputs, {out.floats() + part * shape.size(), DType::f32, shape});
        });
    }
    static void forget() {}
};
using Evaluator = BasicWeightEvaluator<PlainMatmul>;

/// Made-up tensors that can be read in parts. Counts what is read.
class TensorsInParts final : public MadeUpTensors {
public:
    [[nodiscard]] std::unique_ptr<const TensorReader> reader(const std::string& name, const Shape&) const override {
        struct Reader final : TensorReader {
            Reader(const TensorsInParts& its_source, std::string its_name)
                : source(its_source), name(std::move(its_name)) {}
            void read(std::size_t first, std::span<float> values) const override {
                source.read_elements += values.size();
                if (name == "broken" && first != 0) {
                    throw Error(ErrorCode::io_failure, "The disk is gone.");
                }
                for (std::size_t i = 0; i < values.size(); ++i) {
                    values[i] = value(name, first + i);
                }
            }
            const TensorsInParts& source;
            std::string name;
        };
        return std::make_unique<const Reader>(*this, name);
    }

    mutable std::atomic<std::size_t> read_elements{0};
};

Graph graph_of(auto&& record) {
    Recorder r;
    record(r);
    return r.take_graph();
}

/// The last node, computed node by node from whole tensors.
std::vector<float> reference(const Graph& graph, const TensorSource& source) {
    std::vector<std::vector<float>> results;
    for (const Node& node : graph.nodes) {
        std::vector<float>& result = results.emplace_back(static_cast<std::size_t>(node.shape.size()));
        if (node.op == Op::weight) {
            source.read(full_name(node), node.shape, result);
            continue;
        }
        std::vector<cpu::TensorData> inputs;
        for (int i = 0; i < node.input_count; ++i) {
            const int input = node.inputs[static_cast<std::size_t>(i)];
            inputs.push_back({results[static_cast<std::size_t>(input)].data(), DType::f32, graph[input].shape});
        }
        cpu::evaluate(node, inputs, {result.data(), DType::f32, node.shape});
    }
    return results.back();
}

/// Checks the last node against the reference: whole and in ranges, with each kind of source and team.
void check_last(const Graph& graph) {
    const TensorsInParts parts;
    const MadeUpTensors whole;
    const std::vector<float> expected = reference(graph, whole);
    const auto same = [&](const float* values) {
        return std::memcmp(values, expected.data(), expected.size() * sizeof(float)) == 0;
    };
    const int last = graph.size() - 1;
    for (const int threads : {1, 3}) {
        Team team(threads);
        for (const TensorSource* source :
             {static_cast<const TensorSource*>(&parts), static_cast<const TensorSource*>(&whole)}) {
            Evaluator evaluator(GraphView{graph.nodes}, *source, &team);
            std::vector<float> written(expected.size());
            evaluator.write(last, reinterpret_cast<std::byte*>(written.data()));
            CHECK(same(written.data()));
            CHECK(same(evaluator(last).floats()));
            std::fill(written.begin(), written.end(), 0.0F);
            evaluator.write(last, reinterpret_cast<std::byte*>(written.data()));  // of what is known
            CHECK(same(written.data()));
            evaluator.forget();
            const auto ranges = evaluator.ranges(last);
            std::vector<float> values(expected.size());
            const auto size = static_cast<Index>(values.size());
            for (const Index step : {Index{1000}, size}) {
                std::fill(values.begin(), values.end(), 0.0F);
                team.for_each(divide_rounding_up(size, step), [&](Index item, int) {
                    const Index first = item * step;
                    const Index count = std::min(step, size - first);
                    const float* from = ranges(first, count, values.data() + first);
                    if (from != values.data() + first) {
                        std::copy_n(from, count, values.data() + first);
                    }
                });
                CHECK(same(values.data()));
            }
        }
    }
}

}  // namespace

TEST_CASE("views and factors of weights in ranges") {
    // As a transformer folds the scale of a norm into the heads of its queries.
    check_last(graph_of([](Recorder& r) {
        const Tensor heads = permute(reshape(r.weight("w{}", {180, 50}, 4), {3, 6, 10, 50}), {1, 0, 2, 3});
        slice(reshape(heads, {180, 50}), 0, 30, 120) * reshape(r.weight("scale", {50}), {1, 50});
    }));
    check_last(graph_of([](Recorder& r) { slice(r.weight("w", {64, 33, 40}), 1, 3, 9, 3) * r.weight("s", {9, 40}); }));
    check_last(graph_of([](Recorder& r) { r.weight("s", {1, 70}) * r.weight("w", {90, 70}); }));
    check_last(graph_of([](Recorder& r) { r.weight("w", {300, 300}) * r.constant(3); }));
    check_last(graph_of([](Recorder& r) { r.weight("w", {400, 250}); }));
}

TEST_CASE("what cannot be computed in ranges is computed whole") {
    check_last(graph_of([](Recorder& r) { permute(r.weight("w", {40, 50}), {1, 0}); }));
    check_last(graph_of([](Recorder& r) { slice(r.weight("w", {50, 40}), 1, 1, 13, 3) * 2.0; }));
    check_last(graph_of([](Recorder& r) { reshape(exp(r.weight("w", {50, 40})), {40, 50}) * r.weight("s", {50}); }));
    check_last(graph_of([](Recorder& r) { r.weight("w", {50, 40}) * r.weight("s", {50, 1}); }));
    check_last(graph_of([](Recorder& r) { r.weight("w", {50, 1}) * r.weight("s", {1, 40}); }));
    check_last(graph_of([](Recorder& r) { r.weight("w", {50, 40}) * r.weight("v", {50, 40}); }));
    check_last(graph_of([](Recorder& r) { r.weight("w", {50, 40}) + r.weight("s", {40}); }));
}

TEST_CASE("GEMMs of weights are composed of parts") {
    Graph graph = graph_of([](Recorder& r) {
        r.weight("a", {5, 20});
        reshape(r.weight("b", {140, 30}), {7, 20, 30});
    });
    Node gemm;
    gemm.op = Op::matmul;
    gemm.shape = {7, 5, 30};
    gemm.inputs = {0, 2};
    gemm.input_count = 2;
    graph.nodes.push_back(gemm);
    Node flat;
    flat.op = Op::reshape;
    flat.shape = {35, 30};
    flat.inputs = {3};
    flat.input_count = 1;
    graph.nodes.push_back(flat);
    check_last(graph);
}

TEST_CASE("ranges read what they need and nothing else") {
    const Graph graph = graph_of([](Recorder& r) {
        slice(r.weight("w", {300, 50}), 0, 100, 80) * r.weight("s", {50});
    });
    const TensorsInParts source;
    Evaluator evaluator(GraphView{graph.nodes}, source);
    const auto ranges = evaluator.ranges(graph.size() - 1);
    CHECK(source.read_elements == 50);
    std::vector<float> values(60);
    ranges(75, 60, values.data());
    CHECK(source.read_elements == 50 + 60);
}

TEST_CASE("a source that fails on another thread fails here") {
    const Graph graph = graph_of([](Recorder& r) { r.weight("broken", {500, 500}); });
    const TensorsInParts source;
    for (const int threads : {1, 3}) {
        Team team(threads);
        Evaluator evaluator(GraphView{graph.nodes}, source, &team);
        CHECK_THROWS_WITH_AS(evaluator(0), "The disk is gone.", Error);
        CHECK_THROWS_WITH_AS(evaluator(0), "The disk is gone.", Error);  // nothing half done was kept
    }
}

TEST_CASE("a team runs each item once, and leaves out the rest after a failure") {
    for (const int threads : {0, 1, 4}) {
        Team team(threads);
        CHECK(team.threads() == std::max(1, threads));
        std::vector<std::atomic<int>> runs(100);
        team.for_each(100, [&](Index item, int thread) {
            CHECK(thread < team.threads());
            ++runs[static_cast<std::size_t>(item)];
        });
        CHECK(std::all_of(runs.begin(), runs.end(), [](const auto& count) { return count == 1; }));
        std::atomic<int> begun{0};
        CHECK_THROWS_AS(team.for_each(100000,
                                      [&](Index, int) {
                                          ++begun;
                                          throw std::runtime_error("no");
                                      }),
                        std::runtime_error);
        CHECK(begun <= team.threads());
    }
    CHECK(Team::threads_for(0) == 1);
    CHECK(Team::threads_for(1000) == 1);
    CHECK(Team::threads_for(std::size_t{1} << 40U) >= 1);
    CHECK(Team::threads_for(std::size_t{1} << 40U) <= 16);
}

TEST_CASE("floats are rounded to bfloat16 as one by one") {
    std::vector<float> values;
    for (std::uint32_t upper = 0; upper < 0x10000U; upper += 3) {
        for (const std::uint32_t lower : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
            values.push_back(std::bit_cast<float>(upper << 16U | lower));
        }
    }
    std::vector<BFloat16> rounded(values.size());
    store_elements(values.data(), std::span(rounded));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        wrong += rounded[i].bits != BFloat16(values[i]).bits ? 1U : 0U;
    }
    CHECK(wrong == 0);
}

TEST_CASE("values that are not finite are refused, with the tensor and the first bad index") {
    constexpr Index columns = 250;
    const auto with = [](float first, float second) {
        std::vector<float> values(static_cast<std::size_t>(600 * columns), 0.5F);
        values[300 * columns + 17] = first;
        values[599 * columns + 3] = second;
        return values;
    };
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    /// The tensors of a map, also in parts.
    class MapInParts final : public TensorSource {
    public:
        MapInParts(std::vector<float> values, bool in_parts) : values_(std::move(values)), in_parts_(in_parts) {}
        void read(const std::string&, const Shape&, std::span<float> values) const override {
            std::copy(values_.begin(), values_.end(), values.begin());
        }
        [[nodiscard]] std::unique_ptr<const TensorReader> reader(const std::string&, const Shape&) const override {
            struct Reader final : TensorReader {
                explicit Reader(const std::vector<float>& its_values) : all(its_values) {}
                void read(std::size_t first, std::span<float> values) const override {
                    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first), values.size(), values.begin());
                }
                const std::vector<float>& all;
            };
            return in_parts_ ? std::make_unique<const Reader>(values_) : nullptr;
        }

    private:
        std::vector<float> values_;
        bool in_parts_;
    };
    const Graph graph = graph_of([](Recorder& r) { r.weight("a.weight", {600, columns}); });
    const auto message = [&](const TensorSource& source, bool whole) -> std::string {
        Team team(2);
        Evaluator evaluator(GraphView{graph.nodes}, source, &team);
        try {
            if (whole) {
                (void)evaluator(0);
            } else {
                std::vector<float> buffer(5 * columns);
                const auto ranges = evaluator.ranges(0);
                (void)ranges(597 * columns, 3 * columns, buffer.data());  // meets the later one
            }
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::tensor_mismatch);
            return error.what();
        }
        return "";
    };
    for (const bool in_parts : {true, false}) {
        for (const bool whole : {true, false}) {
            CAPTURE(in_parts);
            CAPTURE(whole);
            CHECK(message(MapInParts(with(1, 2), in_parts), whole).empty());
            CHECK(message(MapInParts(with(none, infinity), in_parts), whole)
                      .find("'a.weight' of the checkpoint holds NaN at [300, 17] of its shape [600, 250]") !=
                  std::string::npos);
            CHECK(message(MapInParts(with(1, -infinity), in_parts), whole).find("holds -infinity at [599, 3]") !=
                  std::string::npos);
        }
    }
}

TEST_CASE("rows of a weight go to a sink in pieces of any size") {
    const Graph graph = graph_of([](Recorder& r) {
        slice(r.weight("w", {600, 250}), 0, 300, 300) * r.weight("s", {250});
        slice(r.weight("w", {600, 250}), 0, 0, 300) * r.weight("s", {250});
        r.weight("bias", {77});
    });
    const auto prefix = [&](int count) {
        Graph part = graph;
        part.nodes.resize(static_cast<std::size_t>(count));
        return reference(part, MadeUpTensors());
    };
    const std::vector<float> first = prefix(4);
    const std::vector<float> second = prefix(8);
    REQUIRE(graph.size() == 9);
    struct Sink {
        std::size_t most;
        std::vector<std::byte>* bytes;
        std::span<std::byte> room(std::size_t wanted) const {
            const std::size_t begin = bytes->size();
            const std::size_t count = std::min(wanted, most);
            bytes->resize(begin + count);
            return std::span(*bytes).subspan(begin, count);
        }
        static void add(std::size_t) {}
    };
    const TensorsInParts source;
    Team team(2);
    Evaluator evaluator(GraphView{graph.nodes}, source, &team);
    const GraphView view{graph.nodes};
    PreparedWeight pair;
    pair.node = 3;
    pair.second_node = 7;
    pair.packed = true;
    PreparedWeight bias;
    bias.node = 8;
    for (const std::size_t most : {std::size_t{1000}, std::size_t{200000}, std::size_t{1} << 30U}) {
        std::vector<std::byte> bytes;
        write_row_major<float>(view, pair, evaluator, Sink{most, &bytes});
        REQUIRE(bytes.size() == row_major_bytes<float>(view, pair));
        CHECK(std::memcmp(bytes.data(), first.data(), first.size() * sizeof(float)) == 0);
        CHECK(std::memcmp(bytes.data() + first.size() * sizeof(float), second.data(), second.size() * sizeof(float)) ==
              0);
        bytes.clear();
        write_row_major<BFloat16>(view, pair, evaluator, Sink{most, &bytes});
        REQUIRE(bytes.size() == row_major_bytes<BFloat16>(view, pair));
        std::vector<BFloat16> rounded(first.size());
        store_elements(second.data(), std::span(rounded));
        CHECK(std::memcmp(bytes.data() + bytes.size() / 2, rounded.data(), bytes.size() / 2) == 0);
        bytes.clear();
        write_row_major<BFloat16>(view, bias, evaluator, Sink{most, &bytes});
        REQUIRE(bytes.size() == 77 * sizeof(float));
        CHECK(std::memcmp(bytes.data(), reference(graph, source).data(), bytes.size()) == 0);
    }
}
