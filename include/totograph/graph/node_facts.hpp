// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>

// What a graph comes to when its nodes run one by one, as the eager executor runs them. `facts.hpp` counts planned
// programs.
namespace totograph {

/// What one run of a graph does and reads.
struct NodeFacts {
    Index nodes = 0;         ///< That run each time; the others are states, or depend on weights and constants alone.
    Index kinds = 0;         ///< Different operations among them.
    Index weight_bytes = 0;  ///< What is computed once from the weights, and read.
    Index intermediate_bytes = 0;  ///< All results, each aligned, with a place of its own.
    StepFacts run{};
};

namespace detail {

/// Operations of a node, counted as `StepFacts` says.
constexpr Index flops_of(GraphView graph, const Node& node) {
    return flops_of(node.op, node.attention, node.shape, [&](std::size_t which) -> const Shape& {
        return graph.input(node, static_cast<int>(which)).shape;
    });
}

constexpr Index bytes_of(const Node& node) {
    return node.shape.size() * static_cast<Index>(size_in_bytes(node.dtype));
}

}  // namespace detail

/// Counts a run of all nodes. Every input is read once, and every result written, by each node that runs; of what a
/// `store` or `take` picks out of a state, only that.
constexpr NodeFacts node_facts(GraphView graph) {
    const List<char> known = find_weight_expressions(graph);
    List<char> is_read(known.size(), 0);
    std::array<bool, op_count> has_op{};
    NodeFacts facts;
    for (int id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        if (known[static_cast<std::size_t>(id)] != 0 || node.op == Op::state) {
            continue;
        }
        ++facts.nodes;
        facts.kinds += has_op[static_cast<std::size_t>(node.op)] ? 0 : 1;
        has_op[static_cast<std::size_t>(node.op)] = true;
        facts.intermediate_bytes += static_cast<Index>(aligned_size(static_cast<std::size_t>(detail::bytes_of(node))));
        facts.run.flops += detail::flops_of(graph, node);
        const bool stores = node.op == Op::store;
        facts.run.bytes_written += detail::bytes_of(stores ? graph.input(node, 1) : node);
        for (int i = stores ? 1 : 0; i < node.input_count; ++i) {
            const Node& input = graph.input(node, i);
            const bool picks = i == 0 && op_row(node.op).picks;
            facts.run.bytes_read += detail::bytes_of(picks ? node : input);
            const auto place = static_cast<std::size_t>(node.inputs.items[i]);
            if (known[place] != 0 && is_read[place] == 0) {
                is_read[place] = 1;
                facts.weight_bytes += detail::bytes_of(input);
            }
        }
    }
    return facts;
}

}  // namespace totograph
