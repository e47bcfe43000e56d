// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

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
        hash = mix(hash, identity_of(node.inputs.items[i]));
    }
    // Of the many small numbers a polynomial, which takes no call of each.
    constexpr std::uint64_t base = 0x100000001B3ULL;
    std::uint64_t numbers = 0;
    for (int axis = 0; axis < node.shape.rank; ++axis) {
        numbers = numbers * base + static_cast<std::uint64_t>(node.shape.extents.items[axis]);
    }
    for (const Index attribute : node.attributes.items) {
        numbers = numbers * base + static_cast<std::uint64_t>(attribute);
    }
    if (node.op == Op::attention) {
        for (const Index number : node.attention.numbers()) {
            numbers = numbers * base + static_cast<std::uint64_t>(number);
        }
    }
    // By the op: a pointer that is compared with null is no constant to g++ with -fsanitize=undefined.
    const bool is_custom = node.op == Op::custom_elementwise || node.op == Op::opaque;
    const std::string_view name = is_custom ? node.custom->name : node.name;
    const char* const characters = name.data();
    for (std::size_t i = 0, length = name.size(); i < length; ++i) {
        numbers = numbers * base + static_cast<std::uint64_t>(static_cast<unsigned char>(characters[i]));
    }
    hash = mix(mix(hash, numbers), static_cast<std::uint64_t>(layer + 1));
    hash = layer_step == 0 ? hash : mix(hash, static_cast<std::uint64_t>(layer_step));
    return mix(hash, std::bit_cast<std::uint64_t>(node.immediate));
}

/// Such a number for each weight expression of a graph.
template <class AnyGraph>
constexpr List<std::uint64_t> find_identities(const AnyGraph& graph, const List<char>& weight_expression) {
    List<std::uint64_t> result(weight_expression.size(), 0);
    std::uint64_t* const identities = result.data();
    const char* const is_weight = weight_expression.data();
    const int count = graph.size();
    const Node* const nodes = graph.nodes.data();
    for (int id = 0; id < count; ++id) {
        if (is_weight[id] != 0) {
            const Node& node = nodes[id];
            identities[id] =
                node_identity(node, node.layer, node.layer_step, [&](int input) { return identities[input]; });
        }
    }
    return result;
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
