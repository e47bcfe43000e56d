// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/io/text.hpp>

#include "../common/checks.hpp"
#include "compiled_model.hpp"

namespace examples {

/// The models that this program was compiled with, as TOTOGRAPH_CANDLE_MODELS says.
std::span<const CompiledCandleModel* const> compiled_candle_models();

namespace detail {

inline std::string compiled_names() {
    std::string names;
    for (const CompiledCandleModel* const model : compiled_candle_models()) {
        names += (names.empty() ? "" : ", ") + std::string(model->name);
    }
    return names;
}

}  // namespace detail

/// The model of a name. Throws `Error(invalid_argument)` for one that was not compiled.
inline const CompiledCandleModel& candle_model_named(const std::string& name) {
    for (const CompiledCandleModel* const model : compiled_candle_models()) {
        if (model->name == name) {
            return *model;
        }
    }
    detail::reject("--untrained takes one of the models that this program was compiled with, " +
                   detail::compiled_names() + ", but it is '" + name + "'.");
}

/// The model of a predictor's folder, by its `config.json`. Throws `Error` when there is none, or it is of a model that
/// was not compiled.
inline const CompiledCandleModel& candle_model_of(const std::filesystem::path& predictor) {
    using totograph::Error;
    using totograph::ErrorCode;
    const totograph::io::CheckpointFiles files = totograph::io::find_checkpoint(predictor);
    const std::string folder = totograph::io::in_quotes(predictor.string(), totograph::io::longest_quote);
    if (files.config.empty()) {
        throw Error(ErrorCode::config_mismatch,
                    "The predictor " + folder + " has no config.json, which tells its size; download it as well.");
    }
    const totograph::io::ModelConfig config(files.config);
    if (!config.contains("n_layers")) {
        throw Error(ErrorCode::config_mismatch, "The folder " + folder +
                                                    " is not that of a Kronos predictor: its config.json has no field "
                                                    "'n_layers'. Perhaps --tokenizer and --predictor are exchanged.");
    }
    for (const CompiledCandleModel* const model : compiled_candle_models()) {
        if (config.integer("d_model") == model->width && config.integer("n_layers") == model->layers) {
            return *model;
        }
    }
    throw Error(ErrorCode::config_mismatch,
                "The predictor " + folder + " has " + std::to_string(config.integer("n_layers")) + " layers of width " +
                    std::to_string(config.integer("d_model")) + "; this program was compiled with " +
                    detail::compiled_names() + " (TOTOGRAPH_CANDLE_MODELS of CMake chooses).");
}

}  // namespace examples
