// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include <totograph/io/checkpoint/model_config.hpp>

namespace examples {

/// A model that programs can be compiled for.
struct KnownModel {
    std::string_view name;   ///< As TOTOGRAPH_PROGRAM_MODELS spells it.
    std::string_view title;  ///< As a person reads it.
    /// Whether a checkpoint's configuration is meant for this model: by its largest sizes.
    bool (*is_of)(const totograph::io::ModelConfig& config) = nullptr;
    /// Throws `Error(config_mismatch)`, which names each field of a configuration that is not this model's.
    void (*check)(const totograph::io::ModelConfig& config) = nullptr;
};

/// All that there are source files for beside this header, compiled or not.
std::span<const KnownModel> known_models();

/// The model that a configuration is of, in every field. Throws `Error(config_mismatch)`: for one of a model's sizes it
/// names the fields that differ, for any other it says what it is instead.
const KnownModel& known_model_of(const totograph::io::ModelConfig& config);

}  // namespace examples
