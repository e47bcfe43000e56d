// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/explain/names.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/graph/explain/steps.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::detail {

TOTOGRAPH_INLINE std::string ProgramNames::weights(const std::vector<NameAndLayer>& weights, int layer) const {
    std::vector<std::pair<std::string, std::vector<std::string>>> stems;
    for (const NameAndLayer& weight : weights) {
        const std::string whole = short_name(weight, layer);
        const auto dot = whole.rfind('.');
        const std::string stem = dot == std::string::npos ? "" : whole.substr(0, dot + 1);
        const auto known = std::find_if(stems.begin(), stems.end(),
                                        [&stem](const auto& one) { return !stem.empty() && one.first == stem; });
        if (known == stems.end()) {
            stems.push_back({stem, {whole.substr(stem.size())}});
        } else {
            known->second.push_back(whole.substr(stem.size()));
        }
    }
    std::vector<std::string> parts;
    parts.reserve(stems.size());
    for (const auto& [stem, ends] : stems) {
        parts.push_back(ends.size() == 1 ? stem + ends.front() : stem + "{" + join(ends, ", ") + "}");
    }
    return join(parts, ", ");
}

TOTOGRAPH_INLINE std::string ProgramNames::output(const Reference& output, int layer) const {
    if (output.space == Space::state) {
        return state(output.index, layer) + (output.position < 0 ? "" : " at " + state(output.position, layer));
    }
    return "arena +" + bytes_text(tables_.buffers[static_cast<std::size_t>(output.index)].offset);
}

TOTOGRAPH_INLINE std::string ProgramNames::section_title(const std::vector<Section>& sections, std::size_t place) {
    const Section& section = sections[place];
    if (section.layer >= 0) {
        const std::string first = std::to_string(section.layer);
        return section.repeats == 1 ? "layer " + first
                                    : "layers " + first + "-" + std::to_string(section.layer + section.repeats - 1);
    }
    const auto has_layer = [](const Section& one) { return one.layer >= 0; };
    const auto here = sections.begin() + static_cast<std::ptrdiff_t>(place);
    if (std::none_of(sections.begin(), here, has_layer)) {
        return "before the layers";
    }
    return std::none_of(here, sections.end(), has_layer) ? "after the layers" : "between layers";
}

TOTOGRAPH_INLINE void ProgramNames::find_prefix() {
    int count = 0;
    for (const Node& node : tables_.nodes) {
        if (node.op == Op::weight) {
            const std::string_view own = node.name.substr(0, node.name.find('.') + 1);
            prefix_ = count == 0 || prefix_ == own ? own : std::string_view{};
            ++count;
        }
    }
    prefix_ = count < 2 ? std::string_view{} : prefix_;
}

TOTOGRAPH_INLINE std::string ProgramNames::short_name(const NameAndLayer& weight, int layer) const {
    constexpr std::string_view of_layer = "{}.";
    if (const auto brace = weight.name.find(of_layer); brace != std::string_view::npos && weight.layer == layer) {
        return std::string(weight.name.substr(brace + of_layer.size()));
    }
    const bool has_brace = weight.name.find("{}") != std::string_view::npos;
    return name_with_layer(weight.name.substr(prefix_.size()), weight.layer == layer && !has_brace ? -1 : weight.layer);
}

}  // namespace totograph::detail
