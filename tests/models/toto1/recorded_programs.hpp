// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/arena.hpp>
#include <totograph/exec/cpu/evaluate/bound_graph.hpp>
#include <totograph/exec/shared_states.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/graph/graph.hpp>

namespace totograph::test {

/// The programs of an `EagerForecaster`, to look inside: run one by one, with states to read and to write.
class RecordedPrograms {
public:
    RecordedPrograms(RecordedForecast recorded, const Weights& weights)
        : recorded_(std::move(recorded)), states_(recorded_.graphs), memory_(states_.bytes()) {
        const auto memory_of = [this](const Node& node) { return state(node.name, node.layer); };
        for (const Graph& graph : recorded_.graphs) {
            bound_.emplace_back(GraphView{graph.nodes}, weights, memory_of);
        }
    }
    RecordedPrograms(const RecordedPrograms&) = delete;
    RecordedPrograms& operator=(const RecordedPrograms&) = delete;
    ~RecordedPrograms() = default;

    /// Writes a request that fills the bucket to the input states.
    void fill(const Series& series) {
        const auto memory_of = [this](std::string_view name) { return state(name, -1); };
        recorded_.plan.fill(memory_of, recorded_.plan.sizes, series, recorded_.plan.bucket, 0, 0);
    }

    void run(std::size_t program) { bound_[program].run(); }

    /// Of a state in f32.
    [[nodiscard]] std::vector<float> read_state(std::string_view name, int layer = -1) const {
        const auto* const values = static_cast<const float*>(state(name, layer));
        REQUIRE(values != nullptr);
        return {values, values + size_of(name, layer)};
    }
    void write_state(std::string_view name, const std::vector<float>& values) {
        REQUIRE(values.size() == size_of(name, -1));
        std::copy(values.begin(), values.end(), static_cast<float*>(state(name, -1)));
    }

private:
    [[nodiscard]] void* state(std::string_view name, int layer) const {
        const auto* entry = states_.find(name, layer);
        return entry == nullptr ? nullptr : memory_.data() + entry->offset;
    }

    [[nodiscard]] std::size_t size_of(std::string_view name, int layer) const {
        for (const Graph& graph : recorded_.graphs) {
            for (const Node& node : graph.nodes) {
                if (node.op == Op::state && node.name == name && node.layer == layer) {
                    REQUIRE(node.dtype == DType::f32);
                    return static_cast<std::size_t>(node.shape.size());
                }
            }
        }
        return 0;
    }

    RecordedForecast recorded_;
    SharedStates states_;
    Arena memory_;
    std::vector<cpu::BoundGraph> bound_;
};

}  // namespace totograph::test
