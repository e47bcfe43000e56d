// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/models/kronos/candle_forecaster.hpp>

namespace examples {

/// A forecast to make: of the files of a checkpoint, or of untrained weights where both are empty.
struct CandleRequest {
    std::filesystem::path tokenizer;
    std::filesystem::path predictor;
    std::span<const totograph::kronos::Candles> candles;  ///< Of each symbol.
    totograph::kronos::CandleOptions options;
    int threads = 0;
    std::function<void()> on_weights{};  ///< Called when they are ready.
};

/// A Kronos model with its sizes and how to forecast with it.
struct CompiledCandleModel {
    std::string_view name;
    totograph::Index width;    ///< `d_model` of the predictor, by which a checkpoint is known.
    totograph::Index layers;   ///< And `n_layers`.
    totograph::Index context;  ///< Candles of history, at most.
    totograph::Index horizon;  ///< Candles to forecast, at most.
    totograph::kronos::CandleForecast (*forecast)(const CandleRequest& request);
};

}  // namespace examples
