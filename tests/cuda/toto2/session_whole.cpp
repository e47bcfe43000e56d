// SPDX-License-Identifier: Apache-2.0
#include "cuda/toto2/session_whole.hpp"

#include <totograph/forecast/cpu/eager_forecaster.hpp>

#include "models/toto2/session_cases.hpp"

namespace session_cases {

std::vector<float> forecast_whole(const tg::Series& series, Index horizon) {
    static tg::EagerForecaster forecaster(weights().weights, tg::record_forecast<Model, bucket>());
    const tg::Forecast forecast = forecaster.forecast(series, {.horizon = horizon});
    return {forecast.values().begin(), forecast.values().end()};
}

}  // namespace session_cases
