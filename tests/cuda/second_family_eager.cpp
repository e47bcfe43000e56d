// SPDX-License-Identifier: Apache-2.0
#include "cuda/second_family_eager.hpp"

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/weights/model_weights.hpp>

#include "forecast/second_family/family.hpp"
#include "forecast/second_family/request.hpp"

namespace second_family {

std::vector<float> eager_quantiles() {
    tg::EagerForecaster forecaster(tg::untrained<Small>(weights_seed).weights, tg::record_forecast<Small, exact>());
    const Request request;
    const tg::Forecast forecast = forecaster.forecast(request.series());
    return {forecast.values().begin(), forecast.values().end()};
}

std::vector<float> eager_quantiles(const Series& series) {
    static tg::EagerForecaster forecaster(tg::untrained<Small>(weights_seed).weights,
                                          tg::record_forecast<Small, longest>());
    const tg::Forecast forecast = forecaster.forecast(series);
    return {forecast.values().begin(), forecast.values().end()};
}

}  // namespace second_family
