// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <totograph/exec/weights.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/graph/passes/rewrite.hpp>

#include "support/interpreters.hpp"
#include "support/plans.hpp"

// Forecasts as the plans of their programs say, one number at a time: what the fused executor compiles, for as many
// models and buckets as a test likes.

namespace totograph::test {

/// The programs of a forecast, and the values of their states. Defined in planned_forecast.cpp, which is optimized.
class PlannedForecaster {
public:
    PlannedForecaster(RecordedForecast recorded, Weights weights, Passes passes = Passes{});

    /// Writes a request that fills the bucket to the input states.
    void fill(const Series& series, std::uint64_t seed = 0);

    void run(std::size_t program);

    [[nodiscard]] std::vector<float> read_state(const std::string& name, int layer = -1) const;
    void write_state(const std::string& name, const std::vector<float>& values);

    /// The forecast of a request that fills its bucket, `[batch, variates, horizon, samples or 1]`.
    std::vector<float> forecast(const Series& series, std::uint64_t seed = 0);

private:
    RecordedForecast recorded_;
    Weights weights_;
    std::vector<Planned> programs_;
    States states_;
    std::map<std::string, detail::Block, std::less<>> inputs_;
};

}  // namespace totograph::test
