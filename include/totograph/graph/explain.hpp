// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/graph/explain/names.hpp>
#include <totograph/graph/explain/steps.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/unroll.hpp>

namespace totograph {

/// What `explain` tells.
struct ExplainOptions {
    bool fold_layers = true;     ///< Equal layers in a row are told once.
    bool list_kernels = true;    ///< The kernels with their instructions follow the steps.
    DType storage = DType::f32;  ///< Of packed weights, for the bytes.
};

namespace detail {

/// The text of `explain`, piece by piece.
class ProgramExplanation {
public:
    ProgramExplanation(const ProgramTables& tables, const ExplainOptions& options)
        : tables_(tables), options_(options), words_(tables), names_(tables) {}

    [[nodiscard]] std::string text(std::string_view title) const {
        std::string result = header(title) + "\n" + steps();
        return options_.list_kernels ? result + "\n" + kernels() : result;
    }

private:
    [[nodiscard]] std::string header(std::string_view title) const;

    [[nodiscard]] std::string kernel_kinds() const;

    [[nodiscard]] std::size_t buffer_bytes() const;

    [[nodiscard]] std::size_t packed_weights() const {
        return static_cast<std::size_t>(
            std::count_if(tables_.weights.begin(), tables_.weights.end(), [](const auto& one) { return one.packed; }));
    }

    [[nodiscard]] std::string steps() const;

    [[nodiscard]] std::string heading(const std::vector<Section>& sections, std::size_t place) const;

    [[nodiscard]] const Kernel& kernel_of(int place) const {
        const Step& step = tables_.steps[static_cast<std::size_t>(place)];
        return tables_.kernels[static_cast<std::size_t>(step.kernel)];
    }
    [[nodiscard]] StepFacts facts_of_step(int place) const { return facts_of(kernel_of(place), options_.storage); }

    void add_step(TextTable& table, int place) const;

    [[nodiscard]] std::string kernels() const;

    /// What the values of a chain are, then its instructions.
    [[nodiscard]] std::string instructions(const Kernel& kernel, const Chain& chain, int first_operand,
                                           int end_operand) const;

    /// How an operand is walked: one stride for each loop axis.
    static std::string walk(const Kernel& kernel, const Operand& operand);

    ProgramTables tables_;
    ExplainOptions options_;
    ProgramWords words_;
    ProgramNames names_;
};

}  // namespace detail

/// A planned program as tables to read: its totals, a line for each step (what it computes, what was fused into it,
/// where its operands come from and its result goes, bytes and operations), and its distinct kernels.
inline std::string explain(const ProgramTables& tables, std::string_view title, const ExplainOptions& options = {}) {
    return detail::ProgramExplanation(tables, options).text(title);
}

/// The same for a `Program`.
template <class Program>
std::string explain(std::string_view title, const ExplainOptions& options = {}) {
    return explain(tables_of<Program>(), title, options);
}

namespace detail {

std::string node_name(const Node& node);

/// One line for each node; `place` tells what became of a node.
template <class Place>
std::string node_table(std::span<const Node> nodes, const Place& place) {
    TextTable table({{"node", true}, {"operation"}, {"shape"}, {"dtype"}, {"inputs"}, {"name"}, {"became"}});
    for (std::size_t id = 0; id < nodes.size(); ++id) {
        const Node& node = nodes[id];
        std::vector<std::string> inputs;
        inputs.reserve(static_cast<std::size_t>(node.input_count));
        for (int i = 0; i < node.input_count; ++i) {
            inputs.push_back(std::to_string(node.inputs.items[i]));
        }
        table.add_row({std::to_string(id), std::string(name(node.op)), shape_text(node.shape),
                       std::string(name(node.dtype)), join(inputs, ", "), node_name(node), place(id)});
    }
    return table.text();
}

}  // namespace detail

/// The nodes of a graph as a table: as recorded (`totograph::record<Model>()`), or after any pass.
inline std::string explain_graph(const Graph& graph, std::string_view title) {
    const auto nowhere = [](std::size_t) { return std::string(); };
    return std::string(title) + "\n" + std::string(title.size(), '=') + "\n" + detail::node_table(graph.nodes, nowhere);
}

/// The rewritten nodes of a planned program as a table that also tells which step and kernel each became part of.
std::string explain_graph(const ProgramTables& tables, std::string_view title);

/// The same for a `Program`.
template <class Program>
std::string explain_graph(std::string_view title) {
    return explain_graph(tables_of<Program>(), title);
}

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/graph/impl/explain.hpp>
#endif
