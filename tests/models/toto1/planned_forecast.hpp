// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/exec/weights.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/results/collect.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/models/toto1/states.hpp>

#include "support/interpreters.hpp"
#include "support/plans.hpp"

// Forecasts as the plans of their programs say, one number at a time: what the fused executor compiles, for as many
// models and buckets as a test likes.

namespace totograph::test {

/// The programs of a forecast, and the values of their states.
class PlannedForecaster {
public:
    PlannedForecaster(RecordedForecast recorded, Weights weights, Passes passes = Passes{})
        : recorded_(std::move(recorded)), weights_(std::move(weights)) {
        for (const Graph& graph : recorded_.graphs) {
            programs_.push_back(plan_of(graph, passes));
        }
        for (const Planned& planned : programs_) {
            check_plan(planned);
            for (const Node& node : planned.graph.nodes) {
                if (node.op == Op::state) {
                    states_[name_of(node)].resize(static_cast<std::size_t>(node.shape.size()));
                    if (node.layer < 0) {
                        inputs_.try_emplace(std::string(node.name), node.dtype, node.shape);
                    }
                }
            }
        }
    }

    /// Writes a request that fills the bucket to the input states.
    void fill(const Series& series, std::uint64_t seed = 0) {
        const auto memory_of = [&](std::string_view name) {
            const auto found = inputs_.find(name);
            return found == inputs_.end() ? nullptr : found->second.data.data;
        };
        recorded_.plan.fill(memory_of, recorded_.plan.sizes, series, recorded_.plan.bucket, seed, 0);
        for (const auto& [name, block] : inputs_) {
            std::vector<double>& numbers = states_.at(name + "/-1");
            for (std::size_t at = 0; at < numbers.size(); ++at) {
                numbers[at] = block.data.get(static_cast<Index>(at));
            }
        }
    }

    void run(std::size_t program) { PlanInterpreter(programs_[program], weights_.source(), states_); }

    [[nodiscard]] std::vector<float> read_state(const std::string& name, int layer = -1) const {
        const std::vector<double>& numbers = states_.at(name + "/" + std::to_string(layer));
        return {numbers.begin(), numbers.end()};
    }
    void write_state(const std::string& name, const std::vector<float>& values) {
        states_.at(name + "/-1").assign(values.begin(), values.end());
    }

    /// The forecast of a request that fills its bucket, `[batch, variates, horizon, samples or 1]`.
    std::vector<float> forecast(const Series& series, std::uint64_t seed = 0) {
        const ForecastPlan& plan = recorded_.plan;
        fill(series, seed);
        for (std::size_t program = 0; program < programs_.size(); ++program) {
            for (Index left = plan.runs(program, plan.bucket.horizon); left > 0; --left) {
                run(program);
            }
        }
        const std::vector<float> forecast = read_state(std::string(states::forecast));
        std::vector<float> result(plan.result_size());
        (void)collect_forecast(forecast.data(), plan, plan.bucket, result);
        return result;
    }

private:
    RecordedForecast recorded_;
    Weights weights_;
    std::vector<Planned> programs_;
    States states_;
    std::map<std::string, detail::Block, std::less<>> inputs_;
};

}  // namespace totograph::test
