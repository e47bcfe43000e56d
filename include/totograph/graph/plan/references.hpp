// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/list.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/passes/location.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/passes/weight_identity.hpp>
#include <totograph/graph/plan/tables.hpp>

namespace totograph::detail {

/// Where the operands of steps lie: gives weights, states and intermediates their numbers in the plan as steps come to
/// need them.
class References {
public:
    /// Lists the states of the graph in the plan.
    constexpr References(const Graph& graph, const List<char>& weight_expression, const List<Location>& locations,
                         Plan& plan)
        : graph_(graph),
          nodes_(graph.nodes.data()),
          weight_expression_(weight_expression),
          locations_(locations),
          plan_(plan),
          identities_(find_identities(graph, weight_expression)),
          buffer_of_(graph.nodes.size(), -1),
          weight_of_(graph.nodes.size(), -1),
          state_of_(graph.nodes.size(), -1) {
        plan_.states = list_states(graph).states;
        for (std::size_t i = 0; i < plan_.states.size(); ++i) {
            state_of_[static_cast<std::size_t>(plan_.states[i].node)] = static_cast<int>(i);
        }
    }

    /// The place of a state in the plan.
    [[nodiscard]] constexpr int state(int id) const { return state_of_[static_cast<std::size_t>(id)]; }

    /// Where the value of a node lies, for the step that comes next.
    constexpr Reference to(int id) {
        if (weight_expression_[static_cast<std::size_t>(id)]) {
            Reference reference;
            reference.space = Space::weight;
            reference.index = weight(id, -1, false);
            return reference;
        }
        return at(locations_[static_cast<std::size_t>(id)]);
    }

    /// The same for a place.
    constexpr Reference at(const Location& location) {
        Reference reference;
        reference.offset = location.offset;
        if (location.position >= 0) {
            reference.position = state(location.position);
            reference.position_stride = location.position_stride;
            reference.last_position = location.last_position;
            reference.capacity = location.capacity;
        }
        const auto base = static_cast<std::size_t>(location.base);
        if (weight_expression_[base]) {
            reference.space = Space::weight;
            reference.index = weight(location.base, -1, false);
        } else if (nodes_[location.base].op == Op::state) {
            reference.space = Space::state;
            reference.index = state(location.base);
        } else {
            reference.space = Space::arena;
            reference.index = buffer_of_[base];
            plan_.buffers[static_cast<std::size_t>(reference.index)].last_step = static_cast<int>(plan_.steps.size());
        }
        return reference;
    }

    /// The place of a prepared weight in the plan, new or found again. `second` is packed with it, unless -1.
    constexpr int weight(int id, int second, bool packed) {
        const std::uint64_t identity = identity_of(identities_, id, second, packed);
        if (!packed && weight_of_[static_cast<std::size_t>(id)] >= 0) {
            return weight_of_[static_cast<std::size_t>(id)];
        }
        const PreparedWeight* const weights = plan_.weights.data();
        for (int i = 0, count = packed ? static_cast<int>(plan_.weights.size()) : 0; i < count; ++i) {
            const PreparedWeight& other = weights[i];
            if (other.identity == identity && other.packed && is_same_expression(graph_, other.node, id) &&
                is_same_expression(graph_, other.second_node, second)) {
                return i;
            }
        }
        plan_.weights.push_back({id, second, packed, identity});
        const int index = static_cast<int>(plan_.weights.size()) - 1;
        if (!packed) {
            weight_of_[static_cast<std::size_t>(id)] = index;
        }
        return index;
    }

    /// An intermediate for the value of a node, which the step that comes next writes.
    constexpr Reference new_buffer(int id) {
        Buffer buffer;
        buffer.node = id;
        buffer.bytes =
            aligned_size(static_cast<std::size_t>(nodes_[id].shape.size()) * size_in_bytes(nodes_[id].dtype));
        buffer.first_step = static_cast<int>(plan_.steps.size());
        buffer.last_step = buffer.first_step;
        buffer_of_[static_cast<std::size_t>(id)] = static_cast<int>(plan_.buffers.size());
        plan_.buffers.push_back(buffer);
        Reference reference;
        reference.space = Space::arena;
        reference.index = buffer_of_[static_cast<std::size_t>(id)];
        return reference;
    }

    /// The intermediate for the value of a node, which several steps write: new for the first of them.
    constexpr Reference buffer(int id) {
        if (buffer_of_[static_cast<std::size_t>(id)] < 0) {
            return new_buffer(id);
        }
        Reference reference;
        reference.space = Space::arena;
        reference.index = buffer_of_[static_cast<std::size_t>(id)];
        int& last_step = plan_.buffers[static_cast<std::size_t>(reference.index)].last_step;
        last_step = std::max(last_step, static_cast<int>(plan_.steps.size()));
        return reference;
    }

private:
    const Graph& graph_;
    const Node* nodes_;
    const List<char>& weight_expression_;
    const List<Location>& locations_;
    Plan& plan_;
    List<std::uint64_t> identities_;
    List<int> buffer_of_;
    List<int> weight_of_;
    List<int> state_of_;
};

}  // namespace totograph::detail
