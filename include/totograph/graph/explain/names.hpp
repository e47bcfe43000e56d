// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/graph/explain/steps.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::detail {

/// Names of weights and states, short where the surroundings tell the rest.
class ProgramNames {
public:
    explicit ProgramNames(const ProgramTables& tables) : tables_(tables) { find_prefix(); }

    /// What all names of weights begin with, up to a dot; not told again.
    [[nodiscard]] std::string_view prefix() const { return prefix_; }

    /// Weights in a step of `layer`: names relative to the layer, those that differ at the end side by side
    /// (`attention.{weight, bias}`).
    [[nodiscard]] std::string weights(const std::vector<NameAndLayer>& weights, int layer) const;

    /// A state in a step of `layer`.
    [[nodiscard]] std::string state(int index, int layer) const {
        const StateSlot& slot = tables_.states[static_cast<std::size_t>(index)];
        return name_with_layer(slot.name, slot.layer == layer ? -1 : slot.layer);
    }

    /// Where a result goes: a state, or the arena from an offset.
    [[nodiscard]] std::string output(const Reference& output, int layer) const;

    /// `layers 0-10`, `layer 11`, or where steps without a layer are among the others.
    [[nodiscard]] static std::string section_title(const std::vector<Section>& sections, std::size_t place);

private:
    void find_prefix();

    [[nodiscard]] std::string short_name(const NameAndLayer& weight, int layer) const;

    ProgramTables tables_;
    std::string_view prefix_;
};

}  // namespace totograph::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/graph/explain/impl/names.hpp>
#endif
