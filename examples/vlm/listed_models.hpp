// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <totograph/core/shape.hpp>
#include <totograph/io/checkpoint/model_config.hpp>

#include "../common/listed_choice.hpp"
#include "compiled_model.hpp"

namespace examples {

/// The models that this program was compiled with, as TOTOGRAPH_VLM_MODELS says.
std::span<const CompiledVlm* const> compiled_vlms();

/// The model of a name. Throws `Error(invalid_argument)` for one that was not compiled.
inline const CompiledVlm& vlm_named(const std::string& name) {
    return detail::untrained_model(compiled_vlms(), name);
}

/// The model of a checkpoint, by its `config.json`. Throws `Error` when there is none, or it is of a model that was not
/// compiled.
inline const CompiledVlm& vlm_of(const std::filesystem::path& checkpoint) {
    const totograph::io::ModelConfig config = detail::config_of("checkpoint", checkpoint);
    const totograph::Index width = config.integer("lm_hidden_dim");
    const totograph::Index layers = config.integer("lm_n_blocks");
    const totograph::Index ids = config.integer("lm_vocab_size");
    for (const CompiledVlm* const model : compiled_vlms()) {
        const totograph::nanovlm::LanguageConfig& lm = model->config.lm;
        if (width == lm.lm_hidden_dim && layers == lm.lm_n_blocks && ids == lm.lm_vocab_size) {
            return *model;
        }
    }
    detail::refuse_size(
        "checkpoint", checkpoint,
        std::to_string(layers) + " layers of width " + std::to_string(width) + " and " + std::to_string(ids) + " ids",
        compiled_vlms(), "TOTOGRAPH_VLM_MODELS");
}

}  // namespace examples
