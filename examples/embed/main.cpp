// SPDX-License-Identifier: Apache-2.0
// The smallest program that forecasts: a wave, and where it goes next.
#include <cmath>
#include <cstdio>
#include <vector>

#include <totograph/models/toto1/demo_1_0.hpp>
#include <totograph/totograph.hpp>

namespace tg = totograph;

int main(int argument_count, char** arguments) {
    using Model = tg::toto1::demo_1_0;
    constexpr tg::Bucket bucket{.variates = 1, .context = 128, .horizon = 12, .samples = 64};
    try {
        const auto weights = tg::load<Model>(argument_count > 1 ? arguments[1] : DEMO_MODEL);
        tg::Forecaster<Model, bucket> forecaster(weights);

        std::vector<float> values;
        for (int step = 0; step < bucket.context; ++step) {
            values.push_back(20.0F + 5.0F * std::sin(0.2617994F * static_cast<float>(step)));  // one turn in 24 steps
        }
        const tg::Forecast forecast = forecaster.forecast({.steps = bucket.context, .values = values}, {.seed = 1});

        const std::vector<float> low = forecast.quantile(0.1);
        const std::vector<float> median = forecast.median();
        const std::vector<float> high = forecast.quantile(0.9);
        for (std::size_t step = 0; step < median.size(); ++step) {
            std::printf("%2zu steps ahead: %6.2f (80%% between %6.2f and %6.2f)\n", step + 1,
                        static_cast<double>(median[step]), static_cast<double>(low[step]),
                        static_cast<double>(high[step]));
        }
    } catch (const tg::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
