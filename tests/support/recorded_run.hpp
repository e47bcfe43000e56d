// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/arena.hpp>
#include <totograph/exec/cpu/evaluate/bound_graph.hpp>
#include <totograph/exec/shared_states.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/results/collect.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/states.hpp>

namespace totograph::test {

/// The programs of a forecast, run node by node as they were recorded, whose states can be looked at.
class RecordedRun {
public:
    RecordedRun(const Weights& weights, RecordedForecast recorded)
        : recorded_(std::move(recorded)), states_(recorded_.graphs), memory_(states_.bytes()) {
        for (const Graph& graph : recorded_.graphs) {
            bound_.emplace_back(GraphView{graph.nodes}, weights,
                                [this](const Node& node) { return state(node.name, node.layer); });
        }
    }
    RecordedRun(const RecordedRun&) = delete;
    RecordedRun& operator=(const RecordedRun&) = delete;
    ~RecordedRun() = default;

    void fill(const Series& series, const Bucket& request) {
        const ForecastPlan& plan = recorded_.plan;
        plan.fill([this](std::string_view name) { return state(name, -1); }, plan.sizes, series, request, 0, 0);
    }
    void run(std::size_t program) const { bound_[program].run(); }

    [[nodiscard]] bool has(std::string_view name, int layer = -1) const { return states_.find(name, layer) != nullptr; }
    /// The content of a state of f32.
    [[nodiscard]] std::vector<float> floats(std::string_view name, int layer = -1) const {
        const auto* entry = states_.find(name, layer);
        REQUIRE_MESSAGE(entry != nullptr, "no state " << name);
        for (const Graph& graph : recorded_.graphs) {
            for (const Node& node : graph.nodes) {
                if (node.op == Op::state && node.name == name && node.layer == layer) {
                    const auto* from = static_cast<const float*>(state(name, layer));
                    return {from, from + node.shape.size()};
                }
            }
        }
        return {};
    }

private:
    [[nodiscard]] void* state(std::string_view name, int layer) const noexcept {
        const auto* entry = states_.find(name, layer);
        return entry == nullptr ? nullptr : memory_.data() + entry->offset;
    }

    RecordedForecast recorded_;
    SharedStates states_;
    Arena memory_;
    std::vector<cpu::BoundGraph> bound_;
};

}  // namespace totograph::test
