// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/record/custom.hpp>

namespace totograph::detail {

/// A number for a weight expression that depends on what it computes alone: equal expressions have equal numbers.
/// The reverse is likely, not certain (and operations of the user count by their names), so whoever finds two equal
/// numbers compares the expressions.
///
/// @param layer        the node's, and
/// @param layer_step   where it is not as the node has it
/// @param identity_of  such a number for the node of this number, an input
template <class IdentityOf>
constexpr std::uint64_t node_identity(const Node& node, int layer, int layer_step, const IdentityOf& identity_of) {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(node.op) + 1, static_cast<std::uint64_t>(node.dtype));
    for (int i = 0; i < node.input_count; ++i) {
        hash = mix(hash, identity_of(node.inputs[static_cast<std::size_t>(i)]));
    }
    for (int axis = 0; axis < node.shape.rank; ++axis) {
        hash = mix(hash, static_cast<std::uint64_t>(node.shape[axis]));
    }
    for (const Index attribute : node.attributes) {
        hash = mix(hash, static_cast<std::uint64_t>(attribute));
    }
    for (const Index number : node.op == Op::attention ? node.attention.numbers() : std::array<Index, 6>{}) {
        hash = mix(hash, static_cast<std::uint64_t>(number));
    }
    for (const char character : node.custom == nullptr ? node.name : node.custom->name) {
        hash = mix(hash, static_cast<std::uint64_t>(static_cast<unsigned char>(character)));
    }
    hash = mix(hash, static_cast<std::uint64_t>(layer + 1));
    hash = layer_step == 0 ? hash : mix(hash, static_cast<std::uint64_t>(layer_step));
    return mix(hash, std::bit_cast<std::uint64_t>(node.immediate));
}

/// Such a number for each weight expression of a graph.
template <class AnyGraph>
constexpr List<std::uint64_t> find_identities(const AnyGraph& graph, const List<char>& weight_expression) {
    List<std::uint64_t> identities(weight_expression.size(), 0);
    for (int id = 0; id < graph.size(); ++id) {
        if (weight_expression[static_cast<std::size_t>(id)]) {
            const Node& node = graph[id];
            identities[static_cast<std::size_t>(id)] = node_identity(node, node.layer, node.layer_step, [&](int input) {
                return identities[static_cast<std::size_t>(input)];
            });
        }
    }
    return identities;
}

/// The same for a prepared weight.
constexpr std::uint64_t identity_of(const List<std::uint64_t>& identities, int node, int second, bool packed) {
    const std::uint64_t of_second = second < 0 ? 1 : identities[static_cast<std::size_t>(second)];
    return mix(mix(identities[static_cast<std::size_t>(node)], of_second), packed ? 2 : 3);
}

/// Whether two weight expressions are the same, node by node.
constexpr bool is_same_expression(const Graph& graph, int a, int b) {
    if (a == b) {
        return true;
    }
    if (a < 0 || b < 0) {
        return false;
    }
    const Node& left = graph[a];
    Node right = graph[b];
    right.inputs = left.inputs;
    bool same = left == right;
    for (int i = 0; same && i < left.input_count; ++i) {
        const auto place = static_cast<std::size_t>(i);
        same = is_same_expression(graph, left.inputs[place], graph[b].inputs[place]);
    }
    return same;
}

}  // namespace totograph::detail
