// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/explain/steps.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/explain/attention.hpp>
#include <totograph/graph/explain/chain.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/passes/rewrite.hpp>

namespace totograph::detail {

TOTOGRAPH_INLINE std::string name_with_layer(std::string_view name, int layer) {
    std::string text(name);
    if (const auto brace = text.find("{}"); brace != std::string::npos) {
        return text.replace(brace, 2, std::to_string(layer));
    }
    return layer < 0 ? text : text + " " + std::to_string(layer);
}

TOTOGRAPH_INLINE std::string StepWords::line() const {
    std::string text = before.empty() ? what : join(before, ", ") + " -> " + what;
    if (!after.empty()) {
        const bool adds = text.starts_with("GEMM");
        text += (text.empty() ? "" : adds ? " + " : " -> ") + join(after, ", ");
    }
    return text;
}

TOTOGRAPH_INLINE ProgramWords::ProgramWords(const ProgramTables& tables) : tables_(tables) {
    find_nodes();
    for (std::size_t place = 0; place < tables.steps.size(); ++place) {
        describe(static_cast<int>(place));
    }
    find_layers();
    for (std::size_t place = 0; place < steps_.size(); ++place) {
        if (place == 0 || steps_[place].layer != sections_.back().layer) {
            sections_.push_back({steps_[place].layer, static_cast<int>(place), 0, 1});
        }
        ++sections_.back().count;
    }
}

TOTOGRAPH_INLINE std::vector<Section> ProgramWords::sections(bool fold) const {
    std::vector<Section> result;
    for (const Section& section : sections_) {
        if (fold && !result.empty() && are_equal(result.back(), section)) {
            ++result.back().repeats;
        } else {
            result.push_back(section);
        }
    }
    return result;
}

TOTOGRAPH_INLINE std::vector<NameAndLayer> ProgramWords::weights_below(int node) const {
    std::vector<NameAndLayer> found;
    std::set<int> seen;
    collect_weights(node, found, seen);
    return found;
}

TOTOGRAPH_INLINE void ProgramWords::find_nodes() {
    Graph graph;
    graph.nodes.assign(tables_.nodes.begin(), tables_.nodes.end());
    const List<char> prepared = find_weight_expressions(graph);
    node_places_.resize(graph.nodes.size());
    steps_.resize(tables_.steps.size());
    for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
        node_places_[id].is_prepared = prepared[id] != 0;
    }
    for (std::size_t place = 0; place < tables_.steps.size(); ++place) {
        node_places_[static_cast<std::size_t>(tables_.steps[place].node)].step = static_cast<int>(place);
    }
    for (std::size_t place = 0; place < tables_.steps.size(); ++place) {
        claim_inputs(graph[tables_.steps[place].node], static_cast<int>(place));
    }
    for (int id = 0; id < graph.size(); ++id) {
        NodePlace& place = node_places_[static_cast<std::size_t>(id)];
        if (graph[id].op == Op::store && place.step < 0) {
            // The step that makes the value writes it into the state.
            place.step = node_places_[static_cast<std::size_t>(find_computed(graph[id].inputs.items[1]))].step;
        }
        if (place.step >= 0) {
            steps_[static_cast<std::size_t>(place.step)].nodes.push_back(id);
        }
    }
}

TOTOGRAPH_INLINE int ProgramWords::find_computed(int id) const {
    while ((is_view(node(id).op) || node(id).op == Op::take) && node_places_[static_cast<std::size_t>(id)].step < 0) {
        id = node(id).inputs.items[0];
    }
    return id;
}

TOTOGRAPH_INLINE void ProgramWords::claim_inputs(const Node& of, int step) {
    for (int i = 0; i < of.input_count; ++i) {
        const int id = of.inputs.items[i];
        const auto behind = static_cast<std::size_t>(find_computed(id));
        // A view is part of a step when it lies between two nodes of the step.
        const bool is_elsewhere =
            tables_.nodes[behind].op == Op::state || node_places_[behind].is_prepared || node_places_[behind].step >= 0;
        NodePlace& place = node_places_[static_cast<std::size_t>(id)];
        if (!is_elsewhere && place.step < 0) {
            place.step = step;
            claim_inputs(node(id), step);
        }
    }
}

TOTOGRAPH_INLINE void ProgramWords::collect_weights(int id, std::vector<NameAndLayer>& found,
                                                    std::set<int>& seen) const {
    if (!seen.insert(id).second) {
        return;
    }
    if (node(id).op == Op::weight) {
        found.push_back({node(id).name, node(id).layer});
    }
    for (int i = 0; i < node(id).input_count; ++i) {
        collect_weights(node(id).inputs.items[i], found, seen);
    }
}

TOTOGRAPH_INLINE void ProgramWords::describe(int place) {
    const Kernel& kernel = kernel_of(place);
    const Step& step = plan_step(place);
    StepWords& words = steps_[static_cast<std::size_t>(place)];
    words.what = what_of(kernel);
    words.after =
        ChainWords(kernel.chain, kinds_given(place, kernel.chain, kernel.prologue_operands), tables_.nodes).words();
    if (kernel.kind == KernelKind::reduction) {
        words.before = ChainWords(kernel.prologue, std::vector<GivenKind>(max_operands), tables_.nodes).words();
    }
    if (kernel.kind == KernelKind::pointwise && words.after.empty()) {
        words.what = "copy";
    }
    if (kernel.kind == KernelKind::structural && kernel.op == Op::store) {
        words.what += constant_stored(step);
    }
    add_reference(words, step.input);
    add_reference(words, step.weight);
    for (int i = 0; i < kernel.operand_count; ++i) {
        add_reference(words, step.operands.items[i]);
    }
    if (step.output.position >= 0) {
        add_source(words, {true, step.output.position, true});
    }
}

TOTOGRAPH_INLINE std::string ProgramWords::constant_stored(const Step& step) const {
    int id = step.operands.items[0].space == Space::weight ? weight(step.operands.items[0]).node : step.node;
    while (is_view(node(id).op)) {
        id = node(id).inputs.items[0];
    }
    return node(id).op == Op::constant ? " " + number_text(node(id).immediate) : "";
}

TOTOGRAPH_INLINE std::string ProgramWords::what_of(const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::pointwise: return {};
        case KernelKind::reduction: return std::string(name(kernel.op)) + " of " + std::to_string(kernel.iteration[-1]);
        case KernelKind::gemm:
            return "GEMM " + std::to_string(kernel.k) + "->" + std::to_string(kernel.columns()) +
                   (kernel.accumulators > 1 ? " x" + std::to_string(kernel.accumulators) : "");
        case KernelKind::structural: break;
    }
    return kernel.op == Op::attention ? attention_text(kernel.attention, kernel.iteration[3])
                                      : op_text(kernel.op, kernel.custom);
}

TOTOGRAPH_INLINE std::vector<GivenKind> ProgramWords::kinds_given(int place, const Chain& chain,
                                                                  int first_operand) const {
    const Kernel& kernel = kernel_of(place);
    std::vector<GivenKind> kinds(static_cast<std::size_t>(chain.given), GivenKind::plain);
    for (int value = 0; value < chain.given; ++value) {
        GivenKind& kind = kinds[static_cast<std::size_t>(value)];
        if (value < kernel.accumulators) {
            kind = GivenKind::result;
            continue;
        }
        const auto operand = static_cast<std::size_t>(first_operand + value - kernel.accumulators);
        const Reference& reference = plan_step(place).operands[operand];
        const Strides& strides = kernel.operands[operand].strides;
        bool varies_in_rows = false;
        bool varies_in_columns = false;
        for (int axis = 0; axis < kernel.iteration.rank; ++axis) {
            const bool varies = strides.items[axis] != 0;
            varies_in_rows = varies_in_rows || (varies && axis < kernel.row_rank);
            varies_in_columns = varies_in_columns || (varies && axis >= kernel.row_rank);
        }
        if (reference.space == Space::weight) {
            const bool from_model = !weights_below(weight(reference).node).empty();
            kind = from_model ? GivenKind::model_weight : GivenKind::plain;
        } else if (varies_in_rows) {
            kind = varies_in_columns ? GivenKind::whole : GivenKind::row_factor;
        }
    }
    return kinds;
}

TOTOGRAPH_INLINE void ProgramWords::add_source(StepWords& words, const Source& source) {
    for (Source& known : words.sources) {
        if (known.is_state == source.is_state && known.index == source.index) {
            known.is_position = known.is_position && source.is_position;
            return;
        }
    }
    words.sources.push_back(source);
}

TOTOGRAPH_INLINE void ProgramWords::add_reference(StepWords& words, const Reference& reference) const {
    if (reference.position >= 0) {
        add_source(words, {true, reference.position, true});
    }
    if (reference.space == Space::arena) {
        add_source(words, {false, tables_.buffers[static_cast<std::size_t>(reference.index)].first_step, false});
    } else if (reference.space == Space::state) {
        add_source(words, {true, reference.index, false});
    } else if (reference.space == Space::weight) {
        for (const int id : {weight(reference).node, weight(reference).second_node}) {
            for (const NameAndLayer& found : id < 0 ? std::vector<NameAndLayer>{} : weights_below(id)) {
                if (std::find(words.weights.begin(), words.weights.end(), found) == words.weights.end()) {
                    words.weights.push_back(found);
                }
            }
        }
    }
}

TOTOGRAPH_INLINE void ProgramWords::find_layers() {
    constexpr int unknown = -2;
    std::vector<int> of_readers(steps_.size(), unknown);
    for (std::size_t place = steps_.size(); place-- > 0;) {
        StepWords& words = steps_[place];
        for (const NameAndLayer& read : words.weights) {
            words.layer = std::max(words.layer, read.layer);
        }
        if (words.weights.empty()) {
            words.layer = layer_of_states(static_cast<int>(place));
            words.layer = words.layer < 0 ? std::max(-1, of_readers[place]) : words.layer;
        }
        for (const Source& source : words.sources) {
            if (!source.is_state) {
                int& known = of_readers[static_cast<std::size_t>(source.index)];
                known = known == unknown || known == words.layer ? words.layer : -1;
            }
        }
    }
}

TOTOGRAPH_INLINE int ProgramWords::layer_of_states(int place) const {
    const Reference& output = plan_step(place).output;
    int layer = output.space == Space::state ? tables_.states[static_cast<std::size_t>(output.index)].layer : -1;
    for (const Source& source : step(place).sources) {
        if (source.is_state) {
            layer = std::max(layer, tables_.states[static_cast<std::size_t>(source.index)].layer);
        }
    }
    return layer;
}

TOTOGRAPH_INLINE bool ProgramWords::are_equal(const Section& before, const Section& next) const {
    if (before.layer < 0 || next.layer != before.layer + before.repeats || before.count != next.count) {
        return false;
    }
    for (int i = 0; i < next.count; ++i) {
        const int one = before.first + i;
        const int other = next.first + i;
        if (plan_step(one).kernel != plan_step(other).kernel || !equal_names(one, other)) {
            return false;
        }
    }
    return true;
}

TOTOGRAPH_INLINE bool ProgramWords::equal_names(int one, int other) const {
    const auto& weights = step(one).weights;
    const auto& other_weights = step(other).weights;
    const bool same_weights = std::equal(weights.begin(), weights.end(), other_weights.begin(), other_weights.end(),
                                         [](const NameAndLayer& a, const NameAndLayer& b) { return a.name == b.name; });
    const auto state_name = [this](const Reference& output) {
        return output.space == Space::state ? tables_.states[static_cast<std::size_t>(output.index)].name
                                            : std::string_view{};
    };
    return same_weights && state_name(plan_step(one).output) == state_name(plan_step(other).output);
}

}  // namespace totograph::detail
