// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/explain.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/graph/explain/names.hpp>
#include <totograph/graph/explain/steps.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/unroll.hpp>

namespace totograph {
namespace detail {

TOTOGRAPH_INLINE std::string ProgramExplanation::header(std::string_view title) const {
    const StepFacts total = facts_of(tables_, options_.storage);
    std::string text = std::string(title) + "\n" + std::string(title.size(), '=') + "\n";
    const std::string nodes = std::to_string(tables_.nodes.size());
    text += tables_.recorded_nodes > 0
                ? "nodes     " + std::to_string(tables_.recorded_nodes) + " recorded, " + nodes + " after rewriting\n"
                : "nodes     " + nodes + " after rewriting\n";
    text += "steps     " + std::to_string(tables_.steps.size()) + ", with " +
            count_text(tables_.kernels.size(), "distinct kernel", "distinct kernels") + " (" + kernel_kinds() + ")\n";
    text += "one run   " + flops_text(total.flops) + ", " + bytes_text(total.bytes_read) + " read, " +
            bytes_text(total.bytes_written) + " written\n";
    text += "arena     " + bytes_text(tables_.arena_bytes) + " for " +
            count_text(tables_.buffers.size(), "intermediate", "intermediates") + ", " + bytes_text(buffer_bytes()) +
            " without reuse\n";
    text += "weights   " + bytes_text(weight_bytes(tables_, options_.storage)) + " in " +
            count_text(tables_.weights.size(), "prepared tensor", "prepared tensors") + ", " +
            std::to_string(packed_weights()) + " of them packed as " + std::string(name(options_.storage)) +
            " (padding not counted)\n";
    text += "states    " + bytes_text(bytes_of_states(tables_)) + " in " +
            count_text(tables_.states.size(), "state", "states") + "\n";
    if (!names_.prefix().empty()) {
        text += "          Names of weights are below \"" + std::string(names_.prefix()) + "\".\n";
    }
    return text;
}

TOTOGRAPH_INLINE std::string ProgramExplanation::kernel_kinds() const {
    std::vector<std::string> parts;
    const auto add = [&](KernelKind kind, std::string_view one, std::string_view many) {
        if (const int count = count_kernels(tables_, kind); count > 0) {
            parts.push_back(count_text(static_cast<std::size_t>(count), one, many));
        }
    };
    add(KernelKind::gemm, "GEMM", "GEMMs");
    add(KernelKind::reduction, "reduction", "reductions");
    add(KernelKind::pointwise, "elementwise", "elementwise");
    add(KernelKind::structural, "other", "others");
    return join(parts, ", ");
}

TOTOGRAPH_INLINE std::size_t ProgramExplanation::buffer_bytes() const {
    std::size_t bytes = 0;
    for (const Buffer& buffer : tables_.buffers) {
        bytes += buffer.bytes;
    }
    return bytes;
}

TOTOGRAPH_INLINE std::string ProgramExplanation::steps() const {
    TextTable table({{"step", true},
                     {"kernel", true},
                     {"computes"},
                     {"nodes", true},
                     {"shape"},
                     {"from"},
                     {"to"},
                     {"read", true},
                     {"written", true},
                     {"work", true},
                     {"weights"}});
    const std::vector<Section> sections = words_.sections(options_.fold_layers);
    for (std::size_t place = 0; place < sections.size(); ++place) {
        if (sections.size() > 1) {
            table.add_heading((place == 0 ? "" : "\n") + heading(sections, place));
        }
        for (int i = 0; i < sections[place].count; ++i) {
            add_step(table, sections[place].first + i);
        }
    }
    return table.text();
}

TOTOGRAPH_INLINE std::string ProgramExplanation::heading(const std::vector<Section>& sections,
                                                         std::size_t place) const {
    const Section& section = sections[place];
    StepFacts facts;
    for (int i = 0; i < section.count; ++i) {
        facts += facts_of_step(section.first + i);
    }
    std::string text = ProgramNames::section_title(sections, place);
    if (section.repeats > 1) {
        text += ": the same " + count_text(static_cast<std::size_t>(section.count), "step", "steps") +
                " for each layer, here layer " + std::to_string(section.layer) + " with";
    } else {
        text += ":";
    }
    return text + " " + flops_text(facts.flops) + ", " + bytes_text(facts.bytes_read) + " read, " +
           bytes_text(facts.bytes_written) + " written";
}

TOTOGRAPH_INLINE void ProgramExplanation::add_step(TextTable& table, int place) const {
    const Step& step = tables_.steps[static_cast<std::size_t>(place)];
    const StepWords& words = words_.step(place);
    const StepFacts facts = facts_of_step(place);
    std::vector<std::string> sources;
    for (const Source& source : words.sources) {
        sources.push_back(source.is_state ? names_.state(source.index, words.layer) : std::to_string(source.index));
    }
    table.add_row({std::to_string(place), std::to_string(step.kernel), words.line(), std::to_string(words.nodes.size()),
                   shape_text(tables_.nodes[static_cast<std::size_t>(step.node)].shape), join(sources, ", "),
                   names_.output(step.output, words.layer), bytes_text(facts.bytes_read),
                   bytes_text(facts.bytes_written), facts.flops == 0 ? "" : flops_text(facts.flops),
                   names_.weights(words.weights, words.layer)});
}

TOTOGRAPH_INLINE std::string ProgramExplanation::kernels() const {
    std::string text = "kernels\n-------\n";
    for (std::size_t number = 0; number < tables_.kernels.size(); ++number) {
        const Kernel& kernel = tables_.kernels[number];
        std::size_t calls = 0;
        int first = -1;
        for (std::size_t place = 0; place < tables_.steps.size(); ++place) {
            if (tables_.steps[place].kernel == static_cast<int>(number)) {
                ++calls;
                first = first < 0 ? static_cast<int>(place) : first;
            }
        }
        const std::string what = words_.step(first).what;
        text += "kernel " + std::to_string(number) + ": " + (what.empty() ? "elementwise" : what) + " over " +
                shape_text(kernel.iteration) + ", " + count_text(calls, "step", "steps") + "\n";
        if (kernel.kind == KernelKind::reduction) {
            text += instructions(kernel, kernel.prologue, 0, kernel.prologue_operands);
            text += "    " + std::string(name(kernel.op)) + " of %" +
                    std::to_string(kernel.prologue.given + kernel.prologue.count - 1) + "\n";
        }
        if (kernel.kind != KernelKind::structural && kernel.chain.count > 0) {
            text += instructions(kernel, kernel.chain, kernel.prologue_operands, kernel.operand_count);
        }
    }
    return text;
}

TOTOGRAPH_INLINE std::string ProgramExplanation::instructions(const Kernel& kernel, const Chain& chain,
                                                              int first_operand, int end_operand) const {
    std::string text;
    const int results = chain.given - (end_operand - first_operand);
    for (int value = 0; value < chain.given; ++value) {
        text += "    %" + std::to_string(value) + " = ";
        if (value < results) {
            text += kernel.kind == KernelKind::gemm ? "GEMM" : std::string(name(kernel.op));
        } else {
            const auto place = static_cast<std::size_t>(first_operand + value - results);
            text += "operand " + std::to_string(place) + ", " + std::string(name(kernel.operands[place].dtype)) +
                    walk(kernel, kernel.operands[place]);
        }
        text += "\n";
    }
    return text + instructions_text(chain, tables_.nodes, "    ");
}

TOTOGRAPH_INLINE std::string ProgramExplanation::walk(const Kernel& kernel, const Operand& operand) {
    std::string text;
    for (int axis = 0; axis < kernel.iteration.rank; ++axis) {
        text += (axis == 0 ? ", strides " : " ") + std::to_string(operand.strides.items[axis]);
    }
    return text;
}

TOTOGRAPH_INLINE std::string node_name(const Node& node) {
    if (node.op == Op::constant) {
        return number_text(node.immediate);
    }
    if (node.custom != nullptr) {
        return std::string(node.custom->name);
    }
    return name_with_layer(node.name, node.name.empty() ? -1 : node.layer);
}

}  // namespace detail

TOTOGRAPH_INLINE std::string explain_graph(const ProgramTables& tables, std::string_view title) {
    const detail::ProgramWords words(tables);
    const auto became = [&](std::size_t id) -> std::string {
        const Node& node = tables.nodes[id];
        const detail::NodePlace& place = words.node_places()[id];
        if (place.step >= 0) {
            const Step& step = tables.steps[static_cast<std::size_t>(place.step)];
            return "step " + std::to_string(place.step) + ", kernel " + std::to_string(step.kernel);
        }
        if (node.op == Op::state) {
            return "state";
        }
        return place.is_prepared ? "prepared" : "view";
    };
    return std::string(title) + "\n" + std::string(title.size(), '=') + "\n" + detail::node_table(tables.nodes, became);
}

}  // namespace totograph
