// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/io/text.hpp>

#include "checks.hpp"

// Choosing one of the models that a program was compiled with (`totograph_list_models` of ../CMakeLists.txt), which
// have names.
namespace examples::detail {

template <class Model>
std::string names_of(std::span<const Model* const> models) {
    std::string names;
    for (const Model* const model : models) {
        names += (names.empty() ? "" : ", ") + std::string(model->name);
    }
    return names;
}

/// The model whose untrained weights are asked for. Throws `Error(invalid_argument)` for one that was not compiled.
template <class Model>
const Model& untrained_model(std::span<const Model* const> models, const std::string& name) {
    for (const Model* const model : models) {
        if (model->name == name) {
            return *model;
        }
    }
    reject("--untrained takes one of the models that this program was compiled with, " + names_of(models) +
           ", but it is " + totograph::io::in_quotes(name) + ".");
}

inline std::string quoted(const std::filesystem::path& path) {
    return totograph::io::in_quotes(path.string(), totograph::io::longest_quote);
}

/// The configuration of a checkpoint, which is called `kind`. Throws `Error` where there is none.
inline totograph::io::ModelConfig config_of(const std::string& kind, const std::filesystem::path& folder) {
    const totograph::io::CheckpointFiles files = totograph::io::find_checkpoint(folder);
    if (files.config.empty()) {
        throw totograph::Error(
            totograph::ErrorCode::config_mismatch,
            "The " + kind + " " + quoted(folder) + " has no config.json, which tells its size; download it as well.");
    }
    return totograph::io::ModelConfig(files.config);
}

/// Refuses a checkpoint of a size that was not compiled. `size` is what it has, `setting` chooses models.
template <class Model>
[[noreturn]] void refuse_size(const std::string& kind, const std::filesystem::path& folder, const std::string& size,
                              std::span<const Model* const> models, const std::string& setting) {
    throw totograph::Error(totograph::ErrorCode::config_mismatch,
                           "The " + kind + " " + quoted(folder) + " has " + size + "; this program was compiled with " +
                               names_of(models) + " (" + setting + " of CMake chooses).");
}

}  // namespace examples::detail
