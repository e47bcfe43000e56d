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
    /// Whether a checkpoint's configuration is of this model, by its largest sizes: `totograph::load` compares the
    /// others.
    bool (*is_of)(const totograph::io::ModelConfig& config) = nullptr;
};

/// All that there are source files for beside this header, compiled or not.
std::span<const KnownModel> known_models();

/// The model that a configuration is of. Throws `Error(config_mismatch)`, which says what it is instead, for one that
/// is of none.
const KnownModel& known_model_of(const totograph::io::ModelConfig& config);

}  // namespace examples
