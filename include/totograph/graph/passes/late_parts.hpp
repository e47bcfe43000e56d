// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/passes/fuse.hpp>
#include <totograph/graph/passes/fused_concatenates.hpp>
#include <totograph/graph/passes/location.hpp>

namespace totograph::detail {

/// Which parts of concatenations wait for the GEMM that makes the other part: those of a norm that this GEMM reads,
/// too, so that it follows its norm. Few rows do not wait: their GEMM takes a norm alone that nothing else reads, and
/// norm and part are two small steps ahead of it. Nor does what reads a state, which a store may change meanwhile.
class LateParts {
public:
    constexpr LateParts(const Graph& graph, const Fusion& fusion, const List<Location>& locations,
                        const FusedConcatenates& parts)
        : nodes_(graph.nodes.data()), fusion_(fusion), locations_(locations), parts_(parts) {}

    /// The node in whose place a group runs: its root, or the concatenation that it is a late part of.
    [[nodiscard]] constexpr int place_of(const Group& group) const {
        const int whole = parts_.whole_of(group.root);
        if (whole < 0 || group.anchor_count > 0 || nodes_[group.root].shape.rows() <= most_of_few) {
            return group.root;
        }
        const auto& inputs = nodes_[whole].inputs.items;
        const int other = inputs[0] == group.root ? inputs[1] : inputs[0];
        const bool waits = other > group.root && parts_.whole_of(other) == whole &&
                           is_gemm(nodes_, group_with(other)) && share_norm(group, group_with(other)) &&
                           !reads_state(group);
        return waits ? whole : group.root;
    }

private:
    static constexpr Index most_of_few = 64;

    /// The group of a node that has one.
    [[nodiscard]] constexpr const Group& group_with(int id) const {
        return fusion_.groups[static_cast<std::size_t>(fusion_.group_of[static_cast<std::size_t>(id)])];
    }
    /// Whether a node is the value of a group that reduces rows.
    [[nodiscard]] constexpr bool is_reduced(int id) const {
        return fusion_.group_of[static_cast<std::size_t>(id)] >= 0 && group_with(id).root == id &&
               group_with(id).partner >= 0;
    }

    [[nodiscard]] constexpr bool share_norm(const Group& one, const Group& another) const {
        return any_input(one, [&](int input) {
            return is_reduced(input) && any_input(another, [&](int of_other) { return of_other == input; });
        });
    }
    [[nodiscard]] constexpr bool reads_state(const Group& group) const {
        return any_input(group, [&](int input) {
            const Location& location = locations_[static_cast<std::size_t>(input)];
            return location.position >= 0 || (location.base >= 0 && nodes_[location.base].op == Op::state);
        });
    }
    /// Whether anything that the elementwise nodes of a group read is so.
    template <class Is>
    [[nodiscard]] constexpr bool any_input(const Group& group, const Is& is) const {
        bool result = false;
        for (const int member : group.members) {
            for (int i = 0; i < nodes_[member].input_count; ++i) {
                result = result || is(nodes_[member].inputs.items[i]);
            }
        }
        return result;
    }

    const Node* nodes_;
    const Fusion& fusion_;
    const List<Location>& locations_;
    const FusedConcatenates& parts_;
};

}  // namespace totograph::detail
