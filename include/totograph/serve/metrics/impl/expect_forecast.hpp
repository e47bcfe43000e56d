// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/metrics/expect_forecast.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/serve/metrics/online_accuracy.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE void expect_forecast(OnlineAccuracy& accuracy, const ScoredSeries& scored, Index first_step,
                                      const Forecast& forecast, Index series, Index variate) {
    if (series < 0 || series >= forecast.batch() || variate < 0 || variate >= forecast.variates()) {
        throw Error(ErrorCode::invalid_argument,
                    "expect: series " + std::to_string(series) + " and variate " + std::to_string(variate) +
                        " of a forecast of " + std::to_string(forecast.batch()) + " series and " +
                        std::to_string(forecast.variates()) + " variates. Count both from 0.");
    }
    const auto steps = static_cast<std::size_t>(forecast.horizon());
    const auto row = static_cast<std::size_t>(series * forecast.variates() + variate);
    const auto of = [&](const std::vector<float>& all) {
        return std::span<const float>(all).subspan(row * steps, steps);
    };
    if (forecast.sample_count() == 0 && forecast.levels().empty()) {
        const std::vector<float> mean = forecast.mean();
        accuracy.expect(scored, first_step, of(mean));
        return;
    }
    const std::vector<float> low = forecast.quantile(0.1);
    const std::vector<float> median = forecast.median();
    const std::vector<float> high = forecast.quantile(0.9);
    accuracy.expect(scored, first_step, of(median), of(low), of(high));
}

}  // namespace totograph::serve::detail
