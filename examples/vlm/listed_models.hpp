// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/io/text.hpp>

#include "../common/checks.hpp"
#include "compiled_model.hpp"

namespace examples {

/// The models that this program was compiled with, as TOTOGRAPH_VLM_MODELS says.
std::span<const CompiledVlm* const> compiled_vlms();

namespace detail {

inline std::string vlm_names() {
    std::string names;
    for (const CompiledVlm* const model : compiled_vlms()) {
        names += (names.empty() ? "" : ", ") + std::string(model->name);
    }
    return names;
}

}  // namespace detail

/// The model of a name. Throws `Error(invalid_argument)` for one that was not compiled.
inline const CompiledVlm& vlm_named(const std::string& name) {
    for (const CompiledVlm* const model : compiled_vlms()) {
        if (model->name == name) {
            return *model;
        }
    }
    detail::reject("--untrained takes one of the models that this program was compiled with, " + detail::vlm_names() +
                   ", but it is '" + name + "'.");
}

/// The model of a checkpoint, by its `config.json`. Throws `Error` when there is none, or it is of a model that was not
/// compiled.
inline const CompiledVlm& vlm_of(const std::filesystem::path& checkpoint) {
    using totograph::Error;
    using totograph::ErrorCode;
    const totograph::io::CheckpointFiles files = totograph::io::find_checkpoint(checkpoint);
    const std::string folder = totograph::io::in_quotes(checkpoint.string(), totograph::io::longest_quote);
    if (files.config.empty()) {
        throw Error(ErrorCode::config_mismatch,
                    "The checkpoint " + folder + " has no config.json, which tells its size; download it as well.");
    }
    const totograph::io::ModelConfig config(files.config);
    const totograph::Index width = config.integer("lm_hidden_dim");
    const totograph::Index layers = config.integer("lm_n_blocks");
    const totograph::Index ids = config.integer("lm_vocab_size");
    for (const CompiledVlm* const model : compiled_vlms()) {
        const totograph::nanovlm::LanguageConfig& lm = model->config.lm;
        if (width == lm.lm_hidden_dim && layers == lm.lm_n_blocks && ids == lm.lm_vocab_size) {
            return *model;
        }
    }
    throw Error(ErrorCode::config_mismatch, "The checkpoint " + folder + " has " + std::to_string(layers) +
                                                " layers of width " + std::to_string(width) + " and " +
                                                std::to_string(ids) + " ids; this program was compiled with " +
                                                detail::vlm_names() + " (TOTOGRAPH_VLM_MODELS of CMake chooses).");
}

}  // namespace examples
