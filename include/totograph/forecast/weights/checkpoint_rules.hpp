// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace totograph {

/// What the checkpoints of a family may hold beside the tensors that its programs read, under the names that these
/// have.
struct CheckpointRules {
    std::string_view family{};  ///< For messages, such as the name of the published models.
    /// Another name that a checkpoint may have for a tensor; null where there is none.
    std::string (*other_name)(std::string name) = nullptr;
    /// Whether a tensor that no program reads may be there; null: none may.
    bool (*is_ignored)(std::string_view name) = nullptr;
    /// What to do about a tensor that must not be there, for its message; null, or empty text: nothing special.
    std::string_view (*advice)(std::string_view name) = nullptr;
    /// Which part of a model that is published in several holds a tensor; null for one that is published as a whole.
    std::size_t (*part_of)(std::string_view name) = nullptr;
};

}  // namespace totograph
