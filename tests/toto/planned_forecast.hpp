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

#include <totograph/core/bucket.hpp>
#include <totograph/core/series.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/toto/collect.hpp>
#include <totograph/toto/eager_forecaster.hpp>
#include <totograph/toto/input_states.hpp>
#include <totograph/toto/states.hpp>

#include "support/interpreters.hpp"
#include "support/plans.hpp"

// Forecasts as the plans of their programs say, one number at a time: what the fused executor compiles, for as many
// models and buckets as a test likes.

namespace totograph::test {

/// The forecast of a request that fills its bucket, `[batch, variates, horizon, samples or 1]`.
inline std::vector<float> planned_forecast(const toto::RecordedForecast& recorded, const Weights& weights,
                                           const Series& series, std::uint64_t seed = 0) {
    const std::array programs{plan_of(recorded.graphs[0]), plan_of(recorded.graphs[1])};
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
    toto::InputStates(recorded.sizes, memory_of).fill(series, recorded.bucket, seed);
    for (const auto& [name, block] : inputs) {
        std::vector<double>& numbers = values.at(name + "/-1");
        for (std::size_t at = 0; at < numbers.size(); ++at) {
            numbers[at] = block.data.get(static_cast<Index>(at));
        }
    }

    PlanInterpreter(programs[0], weights.source(), values);
    for (Index patch = recorded.has_cache ? 1 : 0; patch < recorded.sizes.steps; ++patch) {
        PlanInterpreter(programs[1], weights.source(), values);
    }
    const std::vector<double>& numbers = values.at(std::string(toto::states::forecast) + "/-1");
    const std::vector<float> forecast(numbers.begin(), numbers.end());
    std::vector<float> result(toto::result_size(recorded.sizes, recorded.bucket));
    (void)toto::collect_forecast(forecast.data(), recorded.sizes, recorded.bucket, result);
    return result;
}

}  // namespace totograph::test
