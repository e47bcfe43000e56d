// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/passes/fuse.hpp>

namespace totograph::detail {

/// Which parts of concatenations need no step of their own: a group whose value nothing else reads writes it to where
/// the whole lies.
class FusedConcatenates {
public:
    constexpr FusedConcatenates(const Graph& graph, const Fusion& fusion, const List<char>& weight_expression)
        : nodes_(graph.nodes.data()), whole_of_(graph.nodes.size(), -1) {
        const int count = graph.size();
        for (int id = 0; id < count; ++id) {
            const Node& node = nodes_[id];
            for (int i = 0;
                 node.op == Op::concatenate && !weight_expression[static_cast<std::size_t>(id)] && i < node.input_count;
                 ++i) {
                const int part = node.inputs.items[i];
                if (writes_alone(fusion, part)) {
                    whole_of_[static_cast<std::size_t>(part)] = id;
                }
            }
        }
    }

    /// The concatenation that a node is written into; -1 for none.
    [[nodiscard]] constexpr int whole_of(int part) const { return whole_of_[static_cast<std::size_t>(part)]; }

    /// Whether a node is a concatenation that some part is written into.
    [[nodiscard]] constexpr bool has_parts(int id) const {
        const Node& node = nodes_[id];
        return node.op == Op::concatenate &&
               (whole_of(node.inputs.items[0]) == id || whole_of(node.inputs.items[1]) == id);
    }

    /// Elements from where the whole begins to where one of its two parts does.
    [[nodiscard]] constexpr Index begin_of(int whole, int which) const {
        const Node& node = nodes_[whole];
        const auto axis = static_cast<int>(node.attributes.items[0]);
        return which == 0 ? 0
                          : nodes_[node.inputs.items[0]].shape[axis] *
                                contiguous_strides(node.shape)[static_cast<std::size_t>(axis)];
    }

private:
    /// Whether a node is the value of a GEMM's group, or of an elementwise one, that one node reads.
    [[nodiscard]] constexpr bool writes_alone(const Fusion& fusion, int id) const {
        const auto place = static_cast<std::size_t>(id);
        if (fusion.group_of[place] < 0 || fusion.consumer_count[place] != 1 || is_view(nodes_[id].op)) {
            return false;
        }
        const Group& group = fusion.groups[static_cast<std::size_t>(fusion.group_of[place])];
        return group.root == id && !group.is_prologue && group.merged.rank == 0 &&
               (group.anchor_count == 0 || is_gemm(nodes_, group));
    }

    const Node* nodes_;
    List<int> whole_of_;  ///< By node.
};

}  // namespace totograph::detail
