// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// A name with its layer, in place of `{}` or behind it: `layers.3.norm`, `prefix.keys 3`.
inline std::string name_with_layer(std::string_view name, int layer) {
    std::string text(name);
    if (const auto brace = text.find("{}"); brace != std::string::npos) {
        return text.replace(brace, 2, std::to_string(layer));
    }
    return layer < 0 ? text : text + " " + std::to_string(layer);
}

/// A weight of the checkpoint or a state, by its name as recorded.
struct NameAndLayer {
    std::string_view name;
    int layer = -1;

    friend bool operator==(const NameAndLayer&, const NameAndLayer&) = default;
    friend auto operator<=>(const NameAndLayer&, const NameAndLayer&) = default;
};

/// Something that a step reads: the result of an earlier step, or a state.
struct Source {
    bool is_state = false;
    int index = 0;             ///< Of the step, or of the state.
    bool is_position = false;  ///< It only tells where to read or write.

    friend bool operator==(const Source&, const Source&) = default;
};

/// A step in words.
struct StepWords {
    std::string what;                   ///< `GEMM 64->256 x2`, `mean of 768`, `attention of 12 heads of 64, causal`.
    std::vector<std::string> before;    ///< What happens to the elements of a reduction first.
    std::vector<std::string> after;     ///< What happens to the result before it is written.
    std::vector<NameAndLayer> weights;  ///< Of the checkpoint, in the order of the operands.
    std::vector<Source> sources;        ///< Each once.
    std::vector<int> nodes;             ///< Of the rewritten graph: what this step computes.
    int layer = -1;

    /// All of it in one line.
    [[nodiscard]] std::string line() const {
        std::string text = before.empty() ? what : join(before, ", ") + " -> " + what;
        if (!after.empty()) {
            const bool adds = text.starts_with("GEMM");
            text += (text.empty() ? "" : adds ? " + " : " -> ") + join(after, ", ");
        }
        return text;
    }
};

/// Steps of one layer (or of none) in a row, or of several equal layers in a row, of which the first is told.
struct Section {
    int layer = -1;
    int first = 0;  ///< Step.
    int count = 0;  ///< Steps of one layer.
    int repeats = 1;
};

/// What a node of the rewritten graph became.
struct NodePlace {
    int step = -1;  ///< Which computes it.
    bool is_prepared = false;
};

/// A planned program in words.
class ProgramWords {
public:
    explicit ProgramWords(const ProgramTables& tables) : tables_(tables) {
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

    [[nodiscard]] const StepWords& step(int place) const { return steps_[static_cast<std::size_t>(place)]; }
    [[nodiscard]] const std::vector<NodePlace>& node_places() const { return node_places_; }
    [[nodiscard]] int step_count() const { return static_cast<int>(steps_.size()); }

    /// The sections of the program; with `fold`, equal layers in a row are one.
    [[nodiscard]] std::vector<Section> sections(bool fold) const {
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

    /// The weights of the checkpoint below a node, in the order of its inputs.
    [[nodiscard]] std::vector<NameAndLayer> weights_below(int node) const {
        std::vector<NameAndLayer> found;
        std::set<int> seen;
        collect_weights(node, found, seen);
        return found;
    }

private:
    [[nodiscard]] const Node& node(int id) const { return tables_.nodes[static_cast<std::size_t>(id)]; }
    [[nodiscard]] const Step& plan_step(int place) const { return tables_.steps[static_cast<std::size_t>(place)]; }
    [[nodiscard]] const Kernel& kernel_of(int place) const {
        return tables_.kernels[static_cast<std::size_t>(plan_step(place).kernel)];
    }
    [[nodiscard]] const PreparedWeight& weight(const Reference& reference) const {
        return tables_.weights[static_cast<std::size_t>(reference.index)];
    }

    /// Which step computes each node. A plan tells the last node of each step; the others are those that it leads back
    /// to without meeting the last node of another step, for nothing else reads them.
    void find_nodes() {
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
                place.step = node_places_[static_cast<std::size_t>(find_computed(graph[id].inputs[1]))].step;
            }
            if (place.step >= 0) {
                steps_[static_cast<std::size_t>(place.step)].nodes.push_back(id);
            }
        }
    }

    /// The node itself, or the one behind it when it only tells where elements of that one are.
    [[nodiscard]] int find_computed(int id) const {
        while ((is_view(node(id).op) || node(id).op == Op::take) &&
               node_places_[static_cast<std::size_t>(id)].step < 0) {
            id = node(id).inputs[0];
        }
        return id;
    }

    void claim_inputs(const Node& of, int step) {
        for (int i = 0; i < of.input_count; ++i) {
            const int id = of.inputs[static_cast<std::size_t>(i)];
            const auto behind = static_cast<std::size_t>(find_computed(id));
            // A view is part of a step when it lies between two nodes of the step.
            const bool is_elsewhere = tables_.nodes[behind].op == Op::state || node_places_[behind].is_prepared ||
                                      node_places_[behind].step >= 0;
            NodePlace& place = node_places_[static_cast<std::size_t>(id)];
            if (!is_elsewhere && place.step < 0) {
                place.step = step;
                claim_inputs(node(id), step);
            }
        }
    }

    void collect_weights(int id, std::vector<NameAndLayer>& found, std::set<int>& seen) const {
        if (!seen.insert(id).second) {
            return;
        }
        if (node(id).op == Op::weight) {
            found.push_back({node(id).name, node(id).layer});
        }
        for (int i = 0; i < node(id).input_count; ++i) {
            collect_weights(node(id).inputs[static_cast<std::size_t>(i)], found, seen);
        }
    }

    void describe(int place) {
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
            add_reference(words, step.operands[static_cast<std::size_t>(i)]);
        }
        if (step.output.position >= 0) {
            add_source(words, {true, step.output.position, true});
        }
    }

    /// The number that a step stores, where it is one, after a space.
    [[nodiscard]] std::string constant_stored(const Step& step) const {
        int id = step.operands[0].space == Space::weight ? weight(step.operands[0]).node : step.node;
        while (is_view(node(id).op)) {
            id = node(id).inputs[0];
        }
        return node(id).op == Op::constant ? " " + number_text(node(id).immediate) : "";
    }

    [[nodiscard]] static std::string what_of(const Kernel& kernel) {
        switch (kernel.kind) {
            case KernelKind::pointwise: return {};
            case KernelKind::reduction:
                return std::string(name(kernel.op)) + " of " + std::to_string(kernel.iteration[-1]);
            case KernelKind::gemm:
                return "GEMM " + std::to_string(kernel.k) + "->" + std::to_string(kernel.columns()) +
                       (kernel.accumulators > 1 ? " x" + std::to_string(kernel.accumulators) : "");
            case KernelKind::structural: break;
        }
        return kernel.op == Op::attention ? attention_text(kernel.attention, kernel.iteration[3])
                                          : op_text(kernel.op, kernel.custom);
    }

    [[nodiscard]] std::vector<GivenKind> kinds_given(int place, const Chain& chain, int first_operand) const {
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
                const bool varies = strides[static_cast<std::size_t>(axis)] != 0;
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

    static void add_source(StepWords& words, const Source& source) {
        for (Source& known : words.sources) {
            if (known.is_state == source.is_state && known.index == source.index) {
                known.is_position = known.is_position && source.is_position;
                return;
            }
        }
        words.sources.push_back(source);
    }

    void add_reference(StepWords& words, const Reference& reference) const {
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

    /// A step belongs to the layer of the weights that it reads, else of its states, else of all steps that read it.
    void find_layers() {
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

    [[nodiscard]] int layer_of_states(int place) const {
        const Reference& output = plan_step(place).output;
        int layer = output.space == Space::state ? tables_.states[static_cast<std::size_t>(output.index)].layer : -1;
        for (const Source& source : step(place).sources) {
            if (source.is_state) {
                layer = std::max(layer, tables_.states[static_cast<std::size_t>(source.index)].layer);
            }
        }
        return layer;
    }

    /// Whether a section does what the last of `before` does, one layer on: the same kernels on weights and states of
    /// the same names.
    [[nodiscard]] bool are_equal(const Section& before, const Section& next) const {
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

    [[nodiscard]] bool equal_names(int one, int other) const {
        const auto& weights = step(one).weights;
        const auto& other_weights = step(other).weights;
        const bool same_weights =
            std::equal(weights.begin(), weights.end(), other_weights.begin(), other_weights.end(),
                       [](const NameAndLayer& a, const NameAndLayer& b) { return a.name == b.name; });
        const auto state_name = [this](const Reference& output) {
            return output.space == Space::state ? tables_.states[static_cast<std::size_t>(output.index)].name
                                                : std::string_view{};
        };
        return same_weights && state_name(plan_step(one).output) == state_name(plan_step(other).output);
    }

    ProgramTables tables_;
    std::vector<StepWords> steps_;
    std::vector<NodePlace> node_places_;
    std::vector<Section> sections_;
};

}  // namespace totograph::detail
