// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/serve/backends/backend_registry.hpp>

#include "../common/listed_choice.hpp"
#include "grid_model.hpp"

namespace examples {

/// The models of tokens and candles that this program was compiled with, as TOTOGRAPH_STRESS_MODELS says.
std::span<const GridModel* const> compiled_grid_models();

#ifdef TOTOGRAPH_EXAMPLES_CUDA
/// Adds the backends of such a model for devices, `cuda` and `cuda-regional`; ../CMakeLists.txt writes it.
void add_grid_devices(std::string_view model, totograph::serve::BackendRegistry& registry,
                      const std::filesystem::path& checkpoint);
#else
inline void add_grid_devices(std::string_view, totograph::serve::BackendRegistry&, const std::filesystem::path&) {}
#endif

/// The model of a name, or of a nanoVLM's checkpoint; null for a checkpoint of another kind, or none. Throws `Error`
/// for a model that was not compiled.
inline const GridModel* grid_model_of(const std::string& untrained, const std::filesystem::path& checkpoint) {
    if (!untrained.empty()) {
        return &detail::untrained_model(compiled_grid_models(), untrained);
    }
    const std::filesystem::path file =
        checkpoint.empty() ? std::string() : totograph::io::find_checkpoint(checkpoint).config;
    if (file.empty()) {
        return nullptr;
    }
    const totograph::io::ModelConfig config(file);
    if (!config.contains("lm_hidden_dim")) {
        return nullptr;
    }
    for (const GridModel* const model : compiled_grid_models()) {
        if (model->is_of != nullptr && model->is_of(config)) {
            return model;
        }
    }
    detail::refuse_size("checkpoint", checkpoint,
                        std::to_string(config.integer("lm_n_blocks")) + " layers of width " +
                            std::to_string(config.integer("lm_hidden_dim")) + " and " +
                            std::to_string(config.integer("lm_vocab_size")) + " ids",
                        compiled_grid_models(), "TOTOGRAPH_STRESS_MODELS");
}

}  // namespace examples
