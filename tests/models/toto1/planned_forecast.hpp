// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/exec/weights.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/collect.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/models/toto1/states.hpp>

#include "support/interpreters.hpp"
#include "support/plans.hpp"

// Forecasts as the plans of their programs say, one number at a time: what the fused executor compiles, for as many
// models and buckets as a test likes.

namespace totograph::test {

/// The forecast of a request that fills its bucket, `[batch, variates, horizon, samples or 1]`.
inline std::vector<float> planned_forecast(const RecordedForecast& recorded, const Weights& weights,
                                           const Series& series, std::uint64_t seed = 0) {
    std::vector<Planned> programs;
    for (const Graph& graph : recorded.graphs) {
        programs.push_back(plan_of(graph));
    }
    std::map<std::string, detail::Block, std::less<>> inputs;
    States values;
    for (const Planned& planned : programs) {
        check_plan(planned);
        for (const Node& node : planned.graph.nodes) {
            if (node.op == Op::state) {
                values[name_of(node)].resize(static_cast<std::size_t>(node.shape.size()));
                if (node.layer < 0) {
                    inputs.try_emplace(std::string(node.name), node.dtype, node.shape);
                }
            }
        }
    }
    const auto memory_of = [&](std::string_view name) {
        const auto found = inputs.find(name);
        return found == inputs.end() ? nullptr : found->second.data.data;
    };
    const ForecastPlan& plan = recorded.plan;
    plan.fill(memory_of, plan.sizes, series, plan.bucket, seed, 0);
    for (const auto& [name, block] : inputs) {
        std::vector<double>& numbers = values.at(name + "/-1");
        for (std::size_t at = 0; at < numbers.size(); ++at) {
            numbers[at] = block.data.get(static_cast<Index>(at));
        }
    }

    for (std::size_t program = 0; program < programs.size(); ++program) {
        for (Index left = plan.runs(program, plan.bucket.horizon); left > 0; --left) {
            PlanInterpreter(programs[program], weights.source(), values);
        }
    }
    const std::vector<double>& numbers = values.at(std::string(states::forecast) + "/-1");
    const std::vector<float> forecast(numbers.begin(), numbers.end());
    std::vector<float> result(plan.result_size());
    (void)collect_forecast(forecast.data(), plan, plan.bucket, result);
    return result;
}

}  // namespace totograph::test
