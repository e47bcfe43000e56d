// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/array.hpp>
#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>
#include <totograph/graph/passes/location.hpp>
#include <totograph/graph/passes/rewrite.hpp>

namespace totograph::detail {

/// Nodes that become one kernel. Only the root's value is seen by others.
struct Group {
    int root = -1;
    Shape shape;   ///< Of the root: the loop of the chain.
    Shape merged;  ///< `shape` with its last two axes as one, where the group spans such a reshape; else rank 0.
    bool is_prologue = false;       ///< Feeds the reduction of another group; is no kernel of its own.
    int partner = -1;               ///< Of a reduction: its prologue; of a prologue: the group that it feeds.
    Array<int, 2> anchors{-1, -1};  ///< GEMMs, or one reduction, whose results the chain starts from.
    int anchor_count = 0;
    List<int> members;  ///< Elementwise nodes and inner reshapes, last first.
    int operand_estimate = 0;
    int instruction_estimate = 0;
    bool needs_floats = false;     ///< Holds what runs on f32 alone: a GEMM, a pair rotation, a custom operation.
    bool has_other_types = false;  ///< Holds values that are not f32.
};

/// What each node became.
struct Fusion {
    List<Group> groups;
    List<int> group_of;        ///< By node: the group that it belongs to, or -1.
    List<int> consumer_count;  ///< By node.
};

/// Whether a group is a GEMM, or two, with the chain behind it.
constexpr bool is_gemm(const Node* nodes, const Group& group) {
    return group.anchor_count > 0 && nodes[group.anchors.items[0]].op == Op::linear;
}

/// Groups elementwise nodes with the GEMMs and reductions that they follow. Walks backwards, so that what uses a
/// node is known when the node is reached: a node joins a group when everything that uses it is in that group.
class Fuser {
public:
    constexpr Fuser(const Graph& graph, const List<char>& weight_expression, const List<Location>& locations,
                    const List<StoreEvent>& stores, bool fuse)
        : graph_(graph),
          nodes_(graph.nodes.data()),
          weight_expression_(weight_expression),
          locations_(locations),
          stores_(stores),
          fuse_(fuse),
          tag_(graph.nodes.size(), untagged) {}

    constexpr Fusion run() {
        fusion_.groups.reserve(128);
        fusion_.group_of.assign(graph_.nodes.size(), -1);
        fusion_.consumer_count.assign(graph_.nodes.size(), 0);
        for (int id = graph_.size() - 1; id >= 0; --id) {
            if (!weight_expression_[static_cast<std::size_t>(id)] && nodes_[id].op != Op::state) {
                visit(id);
            }
        }
        return static_cast<Fusion&&>(fusion_);
    }

private:
    static constexpr int untagged = -1;
    static constexpr int shared = -2;
    /// Instructions of a node: its own, and a constant for each input.
    static constexpr int most_of_node = 4;

    constexpr void visit(int id) {
        const Node& node = nodes_[id];
        const Location& location = locations_[static_cast<std::size_t>(id)];
        if (location.is_view) {
            if (!join_as_split(id)) {
                tag_inputs(node, shared);
            }
        } else if (is_elementwise(node.op)) {
            int group = tag_[static_cast<std::size_t>(id)];
            if (!can_join(group, id)) {
                group = open_group(id);
            }
            add_member(group, id);
            tag_inputs(node, group);
        } else if (node.op == Op::linear || op_row(node.op).kind == OpClass::reduction) {
            visit_anchor(id);
        } else {
            if (is_view(node.op)) {  // a view that must move elements after all
                add_member(open_group(id), id);
            }
            tag_inputs(node, shared);
        }
    }

    constexpr void visit_anchor(int id) {
        const Node& node = nodes_[id];
        int group = tag_[static_cast<std::size_t>(id)];
        if (!can_anchor(group, id)) {
            group = open_group(id);
        }
        Group& target = fusion_.groups[static_cast<std::size_t>(group)];
        target.anchors[static_cast<std::size_t>(target.anchor_count++)] = id;
        note_types(target, node);
        fusion_.group_of[static_cast<std::size_t>(id)] = group;
        if (node.op == Op::linear || !fuse_) {
            tag_inputs(node, shared);
            return;
        }
        const int prologue = open_group(target.root);
        Group& feeding = fusion_.groups[static_cast<std::size_t>(prologue)];
        feeding.is_prologue = true;
        feeding.shape = nodes_[node.inputs.items[0]].shape;
        feeding.partner = group;
        fusion_.groups[static_cast<std::size_t>(group)].partner = prologue;
        tag_inputs(node, prologue);
    }

    /// A reshape that splits the last axis may lie inside a group: the chain then runs over the split shape.
    constexpr bool join_as_split(int id) {
        const int group = tag_[static_cast<std::size_t>(id)];
        const Node& node = nodes_[id];
        if (!fuse_ || group < 0 || node.op != Op::reshape) {
            return false;
        }
        Group& target = fusion_.groups[static_cast<std::size_t>(group)];
        const int source = node.inputs.items[0];
        const bool computed = is_elementwise(nodes_[source].op) || nodes_[source].op == Op::linear;
        if (target.is_prologue || target.merged.rank != 0 || target.anchor_count != 0 || !computed ||
            weight_expression_[static_cast<std::size_t>(source)] || !(node.shape == target.shape) ||
            !splits_last_axis(nodes_[source].shape, node.shape)) {
            return false;
        }
        target.merged = nodes_[source].shape;
        add_member(group, id);
        tag_inputs(node, group);
        return true;
    }

    [[nodiscard]] constexpr bool can_join(int group, int id) const {
        if (!fuse_ || group < 0) {
            return false;
        }
        const Group& target = fusion_.groups[static_cast<std::size_t>(group)];
        const Shape& shape = nodes_[id].shape;
        const bool is_merged = target.merged.rank != 0 && shape == target.merged;
        const bool parts_pairs = is_merged && nodes_[id].op == Op::rotate_pairs && target.shape[-1] % 2 != 0;
        const int operands = target.operand_estimate + operands_of_partner(target) + nodes_[id].input_count;
        return (shape == target.shape || is_merged) && !parts_pairs && types_agree(target, nodes_[id]) &&
               target.instruction_estimate + most_of_node < max_instructions && operands < max_operands &&
               reads_the_same_later(id, target.root);
    }

    [[nodiscard]] constexpr int operands_of_partner(const Group& group) const {
        return group.partner < 0 ? 0 : fusion_.groups[static_cast<std::size_t>(group.partner)].operand_estimate;
    }

    [[nodiscard]] static constexpr bool needs_floats(const Node& node) {
        return node.op == Op::linear || node.op == Op::rotate_pairs ||
               (node.op == Op::custom_elementwise && node.dtype == DType::f32);
    }

    [[nodiscard]] constexpr bool has_other_types(const Node& node) const {
        bool other = node.dtype != DType::f32;
        for (int i = 0; i < node.input_count; ++i) {
            other = other || nodes_[node.inputs.items[i]].dtype != DType::f32;
        }
        return other;
    }

    /// Whether a kernel with the members of a group and another node is all f32, or needs not be.
    [[nodiscard]] constexpr bool types_agree(const Group& group, const Node& node) const {
        bool floats = group.needs_floats || needs_floats(node);
        bool others = group.has_other_types || has_other_types(node);
        if (group.partner >= 0) {
            const Group& partner = fusion_.groups[static_cast<std::size_t>(group.partner)];
            floats = floats || partner.needs_floats;
            others = others || partner.has_other_types;
        }
        return !floats || !others;
    }

    constexpr void note_types(Group& group, const Node& node) const {
        group.needs_floats = group.needs_floats || needs_floats(node);
        group.has_other_types = group.has_other_types || has_other_types(node);
    }

    [[nodiscard]] constexpr bool can_anchor(int group, int id) const {
        if (!fuse_ || group < 0) {
            return false;
        }
        const Group& target = fusion_.groups[static_cast<std::size_t>(group)];
        const Node& node = nodes_[id];
        const bool whole = node.shape == (target.merged.rank != 0 ? target.merged : target.shape);
        if (target.is_prologue || !whole || !types_agree(target, node) || !reads_the_same_later(id, target.root)) {
            return false;
        }
        if (target.anchor_count == 0) {
            return node.op == Op::linear || target.merged.rank == 0;
        }
        // Two GEMMs of one input, of equal size, whose results meet in this chain: a gated layer.
        const Node& other = nodes_[target.anchors.items[0]];
        return target.anchor_count == 1 && node.op == Op::linear && other.op == Op::linear && target.merged.rank == 0 &&
               node.inputs.items[0] == other.inputs.items[0] &&
               nodes_[node.inputs.items[1]].shape == nodes_[other.inputs.items[1]].shape &&
               weight_expression_[static_cast<std::size_t>(node.inputs.items[1])] &&
               weight_expression_[static_cast<std::size_t>(other.inputs.items[1])];
    }

    /// Whether the states that a node reads are still the same where the root of its group runs.
    [[nodiscard]] constexpr bool reads_the_same_later(int id, int root) const {
        const Node& node = nodes_[id];
        for (int i = 0; i < node.input_count; ++i) {
            const Location& location = locations_[static_cast<std::size_t>(node.inputs.items[i])];
            if (location.base >= 0 && nodes_[location.base].op == Op::state &&
                written_between(stores_, location.base, id, root)) {
                return false;
            }
            if (location.position >= 0 && written_between(stores_, location.position, id, root)) {
                return false;
            }
        }
        return true;
    }

    constexpr int open_group(int root) {
        Group group;
        group.root = root;
        group.shape = nodes_[root].shape;
        fusion_.groups.push_back(group);
        return static_cast<int>(fusion_.groups.size()) - 1;
    }

    constexpr void add_member(int group, int id) {
        Group& target = fusion_.groups[static_cast<std::size_t>(group)];
        target.members.push_back(id);
        note_types(target, nodes_[id]);
        target.operand_estimate += nodes_[id].input_count - 1;
        ++target.instruction_estimate;
        for (int i = 0; i < nodes_[id].input_count; ++i) {
            target.instruction_estimate += nodes_[nodes_[id].inputs.items[i]].op == Op::constant ? 1 : 0;
        }
        fusion_.group_of[static_cast<std::size_t>(id)] = group;
    }

    constexpr void tag_inputs(const Node& node, int group) {
        int* const tags = tag_.data();
        int* const consumers = fusion_.consumer_count.data();
        for (int i = 0; i < node.input_count; ++i) {
            const int input = node.inputs.items[i];
            tags[input] = tags[input] == untagged || tags[input] == group ? group : shared;
            ++consumers[input];
        }
    }

    const Graph& graph_;
    const Node* nodes_;
    const List<char>& weight_expression_;
    const List<Location>& locations_;
    const List<StoreEvent>& stores_;
    bool fuse_;
    List<int> tag_;
    Fusion fusion_;
};

}  // namespace totograph::detail
