// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/explain/dot.hpp>

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/graph/explain.hpp>
#include <totograph/graph/explain/names.hpp>
#include <totograph/graph/explain/steps.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>
#include <totograph/graph/unroll.hpp>

namespace totograph {
namespace detail {

TOTOGRAPH_INLINE DotLook look_of(Op op) {
    switch (op_row(op).kind) {
        case OpClass::leaf: return op == Op::state ? state_look : weight_look;
        case OpClass::view:
        case OpClass::movement:
        case OpClass::effect: return movement_look;
        case OpClass::elementwise: return elementwise_look;
        case OpClass::reduction:
        case OpClass::row: return reduction_look;
        case OpClass::matmul:
        case OpClass::custom: return gemm_look;
        case OpClass::attention: return attention_look;
        case OpClass::random: return random_look;
    }
    return movement_look;
}

TOTOGRAPH_INLINE DotLook look_of(const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::gemm: return gemm_look;
        case KernelKind::reduction: return reduction_look;
        case KernelKind::pointwise: return elementwise_look;
        case KernelKind::structural: break;
    }
    return look_of(kernel.op);
}

TOTOGRAPH_INLINE std::string dot_node(std::string_view id, const DotLook& look, std::string_view title,
                                      const std::vector<std::string>& lines) {
    std::string text = std::string(id) + " [shape=" + std::string(look.shape) + ", fillcolor=\"" +
                       std::string(look.fill) + "\", color=\"" + std::string(look.border) + "\"" +
                       std::string(look.more) + ", label=<<b>" + escape_markup(title) + "</b>";
    for (const std::string& line : lines) {
        text += "<br/><font point-size=\"9\">" + escape_markup(line) + "</font>";
    }
    return text + ">];\n";
}

TOTOGRAPH_INLINE std::string dot_header(std::string_view title) {
    return "digraph program {\n"
           "  graph [rankdir=TB, compound=true, nodesep=0.25, ranksep=0.3, labelloc=t, fontsize=16, label=<<b>" +
           escape_markup(title) +
           "</b>>, fontname=\"Helvetica,Arial,sans-serif\"];\n"
           "  node [style=filled, fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, margin=\"0.12,0.05\", "
           "height=0.3];\n"
           "  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=8, color=\"#555555\", fontcolor=\"#555555\", "
           "arrowsize=0.6];\n";
}

TOTOGRAPH_INLINE ProgramDrawing::ProgramDrawing(const ProgramTables& tables, const DotOptions& options)
    : tables_(tables), options_(options), words_(tables), names_(tables) {
    sections_ = words_.sections(options.fold_layers);
    find_shown();
    find_first_writes();
    for (int place = 0; place < words_.step_count(); ++place) {
        connect(place);
    }
}

TOTOGRAPH_INLINE std::string ProgramDrawing::text(std::string_view title) const {
    std::string result = dot_header(title);
    for (std::size_t place = 0; place < sections_.size(); ++place) {
        const bool is_cluster = sections_[place].layer >= 0;
        std::string_view indent = "  ";
        if (is_cluster) {
            const int repeats = sections_[place].repeats;
            result += "  subgraph cluster_" + std::to_string(place) + " {\n    label=<<b>" +
                      escape_markup(ProgramNames::section_title(sections_, place)) + "</b>" +
                      (repeats > 1 ? " (" + std::to_string(repeats) + " alike, one drawn)" : "") +
                      ">; labeljust=l; fontsize=12; style=\"rounded,filled\"; color=\"#999999\"; "
                      "fillcolor=\"#f8f8f8\";\n";
            indent = "    ";
        }
        for (int i = 0; i < sections_[place].count; ++i) {
            result += std::string(indent) + step_node(sections_[place].first + i);
        }
        for (const auto& [id, state] : states_) {
            if (state.section == static_cast<int>(place) && is_cluster) {
                result += std::string(indent) + state_node(id, state);
            }
        }
        result += is_cluster ? "  }\n" : "";
    }
    for (const auto& [id, state] : states_) {
        if (state.section < 0 || sections_[static_cast<std::size_t>(state.section)].layer < 0) {
            result += "  " + state_node(id, state);
        }
    }
    for (const auto& [ends, edge] : edges_) {
        result += "  " + ends.first + " -> " + ends.second + edge_attributes(edge) + ";\n";
    }
    return result + "}\n";
}

TOTOGRAPH_INLINE void ProgramDrawing::find_shown() {
    for (std::size_t section = 0; section < sections_.size(); ++section) {
        for (int i = 0; i < sections_[section].count * sections_[section].repeats; ++i) {
            shown_.push_back(sections_[section].first + i % sections_[section].count);
            section_of_.push_back(static_cast<int>(section));
        }
    }
}

TOTOGRAPH_INLINE void ProgramDrawing::find_first_writes() {
    first_write_.assign(tables_.states.size(), words_.step_count());
    for (int place = words_.step_count(); place-- > 0;) {
        const Reference& output = tables_.steps[static_cast<std::size_t>(place)].output;
        if (output.space == Space::state) {
            first_write_[static_cast<std::size_t>(output.index)] = place;
        }
    }
}

TOTOGRAPH_INLINE std::string ProgramDrawing::draw_state(int index, int place, bool after) {
    const StateSlot& slot = tables_.states[static_cast<std::size_t>(index)];
    const int section = section_of_[static_cast<std::size_t>(place)];
    const bool is_of_layer = slot.layer >= 0 && slot.layer == words_.step(place).layer;
    std::string id = std::string(slot.name) +
                     (is_of_layer ? " of section " + std::to_string(section) : " " + std::to_string(slot.layer));
    id += after ? " after" : "";
    const auto number = state_ids_.emplace(id, state_ids_.size()).first->second;
    std::string short_id = "state" + std::to_string(number);
    states_.emplace(short_id, DrawnState{index, is_of_layer ? section : -1, after});
    return short_id;
}

TOTOGRAPH_INLINE void ProgramDrawing::connect(int place) {
    const int shown = shown_[static_cast<std::size_t>(place)];
    const std::string here = step_id(shown);
    for (const Source& source : words_.step(place).sources) {
        if (source.is_state) {
            const StateSlot& slot = tables_.states[static_cast<std::size_t>(source.index)];
            const bool after = first_write_[static_cast<std::size_t>(source.index)] < place;
            add_edge(draw_state(source.index, place, after), here, slot.shape, source.is_position, false);
        } else {
            const int from = shown_[static_cast<std::size_t>(source.index)];
            // Between equal layers: shown once as an edge back to the first step that reads it.
            const bool goes_back = from >= shown;
            const int node = tables_.steps[static_cast<std::size_t>(source.index)].node;
            add_edge(step_id(from), here, tables_.nodes[static_cast<std::size_t>(node)].shape, source.is_position,
                     goes_back);
        }
    }
    const Reference& output = tables_.steps[static_cast<std::size_t>(place)].output;
    if (output.space == Space::state) {
        const int node = tables_.steps[static_cast<std::size_t>(place)].node;
        add_edge(here, draw_state(output.index, place, true), tables_.nodes[static_cast<std::size_t>(node)].shape,
                 false, false);
    }
}

TOTOGRAPH_INLINE void ProgramDrawing::add_edge(const std::string& from, const std::string& to, const Shape& shape,
                                               bool is_position, bool goes_back) {
    // What goes to the next of equal layers goes to each of its readers: one arrow says so.
    if (goes_back && !goes_back_.insert(from).second) {
        return;
    }
    const auto [known, is_new] = edges_.emplace(std::pair{from, to}, Edge{shape_text(shape), is_position, goes_back});
    if (!is_new) {
        known->second.is_position = known->second.is_position && is_position;
    }
}

TOTOGRAPH_INLINE std::string ProgramDrawing::step_node(int place) const {
    const StepWords& words = words_.step(place);
    const Kernel& kernel = kernel_of(place);
    std::vector<std::string> lines;
    std::string title = words.what;
    if (kernel.kind == KernelKind::pointwise && title.empty()) {
        title = join(words.after, ", ");
    } else {
        if (!words.before.empty()) {
            title = join(words.before, ", ") + " -> " + title;
        }
        if (!words.after.empty()) {
            lines.push_back((kernel.kind == KernelKind::gemm ? "+ " : "-> ") + join(words.after, ", "));
        }
    }
    if (options_.label_weights && !words.weights.empty()) {
        lines.push_back(names_.weights(words.weights, words.layer));
    }
    return dot_node(step_id(place), look_of(kernel), title, lines);
}

TOTOGRAPH_INLINE std::string ProgramDrawing::state_node(const std::string& id, const DrawnState& state) const {
    const StateSlot& slot = tables_.states[static_cast<std::size_t>(state.index)];
    const std::string name = state.section >= 0 ? std::string(slot.name) : name_with_layer(slot.name, slot.layer);
    return dot_node(id, state_look, name,
                    {shape_text(slot.shape) + " " + std::string(totograph::name(slot.dtype)) +
                     (state.is_written ? ", written" : "")});
}

TOTOGRAPH_INLINE std::string ProgramDrawing::edge_attributes(const Edge& edge) const {
    std::vector<std::string> parts;
    if (edge.is_position) {
        parts.emplace_back("style=dotted");
    } else if (options_.label_edges && !edge.goes_back) {
        parts.push_back("label=\"" + edge.label + "\"");
    }
    if (edge.goes_back) {
        parts.emplace_back("style=dashed, constraint=false, label=\"next layer\"");
    }
    return parts.empty() ? "" : " [" + join(parts, ", ") + "]";
}

}  // namespace detail

TOTOGRAPH_INLINE std::string explain_graph_dot(std::span<const Node> nodes, std::string_view title) {
    const auto id_text = [](int id) { return "node" + std::to_string(id); };
    std::set<int> read;  // a state that is only written stands below what writes it
    for (const Node& node : nodes) {
        for (int i = node.op == Op::store ? 1 : 0; i < node.input_count; ++i) {
            read.insert(node.inputs.items[i]);
        }
    }
    std::string text = detail::dot_header(title);
    for (int id = 0; id < static_cast<int>(nodes.size()); ++id) {
        const Node& node = nodes[static_cast<std::size_t>(id)];
        const std::string own = detail::node_name(node);
        text += "  " + detail::dot_node(id_text(id), detail::look_of(node.op), own.empty() ? name(node.op) : own,
                                        {detail::shape_text(node.shape) + " " + std::string(name(node.dtype))});
        for (int i = 0; i < node.input_count; ++i) {
            const int input = node.inputs.items[i];
            if (node.op == Op::store && i == 0) {
                text += "  " + id_text(id) + " -> " + id_text(input) +
                        (read.contains(input) ? " [constraint=false];\n" : ";\n");
            } else {
                text += "  " + id_text(input) + " -> " + id_text(id) + ";\n";
            }
        }
    }
    return text + "}\n";
}

}  // namespace totograph
