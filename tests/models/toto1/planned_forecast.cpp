// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/planned_forecast.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/exec/weights.hpp>
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

namespace totograph::test {

PlannedForecaster::PlannedForecaster(RecordedForecast recorded, Weights weights, Passes passes)
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

void PlannedForecaster::fill(const Series& series, std::uint64_t seed) {
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

void PlannedForecaster::run(std::size_t program) {
    PlanInterpreter(programs_[program], weights_.source(), states_);
}

std::vector<float> PlannedForecaster::read_state(const std::string& name, int layer) const {
    const std::vector<double>& numbers = states_.at(name + "/" + std::to_string(layer));
    return {numbers.begin(), numbers.end()};
}

void PlannedForecaster::write_state(const std::string& name, const std::vector<float>& values) {
    states_.at(name + "/-1").assign(values.begin(), values.end());
}

std::vector<float> PlannedForecaster::forecast(const Series& series, std::uint64_t seed) {
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

}  // namespace totograph::test
