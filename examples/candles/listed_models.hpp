// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/checkpoint/model_config.hpp>

#include "../common/listed_choice.hpp"
#include "compiled_model.hpp"

namespace examples {

/// The models that this program was compiled with, as TOTOGRAPH_CANDLE_MODELS says.
std::span<const CompiledCandleModel* const> compiled_candle_models();

/// The model of a name. Throws `Error(invalid_argument)` for one that was not compiled.
inline const CompiledCandleModel& candle_model_named(const std::string& name) {
    return detail::untrained_model(compiled_candle_models(), name);
}

/// The model of a predictor's folder, by its `config.json`. Throws `Error` when there is none, or it is of a model that
/// was not compiled.
inline const CompiledCandleModel& candle_model_of(const std::filesystem::path& predictor) {
    const totograph::io::ModelConfig config = detail::config_of("predictor", predictor);
    if (!config.contains("n_layers")) {
        throw totograph::Error(totograph::ErrorCode::config_mismatch,
                               "The folder " + detail::quoted(predictor) +
                                   " is not that of a Kronos predictor: its config.json has no field 'n_layers'. "
                                   "Perhaps --tokenizer and --predictor are exchanged.");
    }
    const totograph::Index width = config.integer("d_model");
    const totograph::Index layers = config.integer("n_layers");
    for (const CompiledCandleModel* const model : compiled_candle_models()) {
        if (width == model->width && layers == model->layers) {
            return *model;
        }
    }
    detail::refuse_size("predictor", predictor, std::to_string(layers) + " layers of width " + std::to_string(width),
                        compiled_candle_models(), "TOTOGRAPH_CANDLE_MODELS");
}

}  // namespace examples
