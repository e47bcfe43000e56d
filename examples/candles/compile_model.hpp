// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/totograph.hpp>

#include "compiled_model.hpp"

namespace examples {

/// A history and a forecast that fit the window of all published models.
inline constexpr totograph::Bucket candles_bucket = totograph::kronos::candle_bucket(1, 448, 64, 20);

/// A model with one size, candles_bucket.
template <class Model>
constexpr CompiledCandleModel compile_candle_model(std::string_view name) {
    namespace tg = totograph;
    return {.name = name,
            .width = Model::config.predictor.d_model,
            .layers = Model::config.predictor.n_layers,
            .context = candles_bucket.context,
            .horizon = candles_bucket.horizon,
            .forecast = [](const CandleRequest& request) {
                const auto weights = request.tokenizer.empty()
                                         ? tg::untrained<Model>()
                                         : tg::kronos::load<Model>(request.tokenizer, request.predictor);
                tg::kronos::CandleForecaster<Model, candles_bucket> forecaster(weights, {.threads = request.threads});
                request.on_weights();
                return forecaster.forecast(request.candles, request.options);
            }};
}

}  // namespace examples
