// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/passes/find_bounds.hpp>
#include <totograph/graph/passes/fuse.hpp>
#include <totograph/graph/passes/fused_concatenates.hpp>
#include <totograph/graph/passes/fused_stores.hpp>
#include <totograph/graph/passes/late_parts.hpp>
#include <totograph/graph/passes/location.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/plan/chain_builder.hpp>
#include <totograph/graph/plan/collapse.hpp>
#include <totograph/graph/plan/place_buffers.hpp>
#include <totograph/graph/plan/references.hpp>
#include <totograph/graph/plan/step_list.hpp>
#include <totograph/graph/plan/tables.hpp>

namespace totograph {

namespace detail {

class Planner {
public:
    constexpr Planner(const Graph& graph, Passes passes)
        : graph_(graph),
          nodes_(graph.nodes.data()),
          weight_expression_(find_weight_expressions(graph)),
          stores_(find_stores(graph)),
          found_(find_locations(graph, weight_expression_, stores_)),
          locations_(found_.seen),
          fusion_(Fuser(graph, weight_expression_, locations_, stores_, passes.fuse_elementwise).run()),
          fused_stores_(graph, fusion_, locations_, stores_),
          bounds_(find_bounds(graph)),
          parts_(graph, fusion_, weight_expression_),
          late_parts_(graph, fusion_, locations_, parts_),
          references_(graph, weight_expression_, locations_, plan_),
          step_list_(graph, weight_expression_, locations_, parts_, references_, plan_) {}

    Planner(const Planner&) = delete;
    Planner& operator=(const Planner&) = delete;
    constexpr ~Planner() = default;

    constexpr Plan run() {
        // Of usual models, so that few tables grow: each copy costs the compiler time.
        plan_.kernels.reserve(64);
        plan_.steps.reserve(128);
        plan_.weights.reserve(128);
        plan_.buffers.reserve(128);
        List<int> group_at(graph_.nodes.size(), -1);
        for (std::size_t group = 0; group < fusion_.groups.size(); ++group) {
            if (!fusion_.groups[group].is_prologue) {
                group_at[static_cast<std::size_t>(late_parts_.place_of(fusion_.groups[group]))] =
                    static_cast<int>(group);
            }
        }
        const int count = graph_.size();
        for (int id = 0; id < count; ++id) {
            const auto place = static_cast<std::size_t>(id);
            if (group_at[place] >= 0) {
                emit_group(fusion_.groups[static_cast<std::size_t>(group_at[place])]);
            }
            if (fusion_.group_of[place] < 0 && !weight_expression_[place] && nodes_[id].op != Op::state &&
                !locations_[place].is_view && !fused_stores_.is_fused(id)) {
                if (parts_.has_parts(id)) {
                    step_list_.add_parts(id, id);
                } else {
                    emit_structural(id);
                }
            }
        }
        plan_.arena_bytes = place_buffers(plan_.buffers, plan_.steps, plan_.kernels);
        return static_cast<Plan&&>(plan_);
    }

private:
    // --- Groups ------------------------------------------------------------------------------------------------------

    /// Strides of a tensor for the loop of a group.
    constexpr Strides loop_strides(int input, const Shape& member_shape, const Group& group) {
        const Location& location = locations_[static_cast<std::size_t>(input)];
        Strides strides = broadcast_strides(nodes_[input].shape, location.strides, member_shape);
        if (group.merged.rank != 0 && member_shape == group.merged) {
            const auto last = static_cast<std::size_t>(group.shape.rank - 1);
            strides[last] = strides[last - 1];
            strides[last - 1] *= group.shape[-1];
        }
        return strides;
    }

    constexpr bool is_scalar_constant(int id) const { return nodes_[id].op == Op::constant; }

    /// What a chain calls an operand. A group that spans a split walks through one tensor in two ways, which are two
    /// operands.
    static constexpr int operand_key(int input, const Shape& member_shape, const Group& group) {
        return group.merged.rank != 0 && member_shape == group.merged ? -2 - input : input;
    }

    constexpr void collect_operand(ChainBuilder& builder, Kernel& kernel, Step& step, int input,
                                   const Shape& member_shape, const Group& group) {
        const int key = operand_key(input, member_shape, group);
        if (builder.find(key) >= 0 || is_anchor(group, input) || is_scalar_constant(input)) {
            return;
        }
        const auto place = static_cast<std::size_t>(kernel.operand_count++);
        kernel.operands[place].dtype = nodes_[input].dtype;
        kernel.operands[place].strides = loop_strides(input, member_shape, group);
        step.operands[place] = references_.to(input);
        builder.define(key, builder.chain.given++);
    }

    static constexpr bool is_anchor(const Group& group, int id) {
        return (group.anchor_count > 0 && group.anchors.items[0] == id) ||
               (group.anchor_count > 1 && group.anchors.items[1] == id);
    }

    /// The value of an input of a member; -1 for a constant that is met for the first time.
    static constexpr int find_input(const ChainBuilder& builder, int input, const Shape& member_shape,
                                    const Group& group) {
        const int walked = builder.find(operand_key(input, member_shape, group));
        return walked >= 0 ? walked : builder.find(input);
    }

    constexpr void add_instruction(ChainBuilder& builder, int id, const Group& group) {
        const Node& node = nodes_[id];
        if (is_view(node.op)) {  // the split of an axis, or a copy: the value itself
            builder.define(id, find_input(builder, node.inputs.items[0], nodes_[node.inputs.items[0]].shape, group));
            return;
        }
        Instruction instruction;
        instruction.op = node.op;
        instruction.dtype = node.dtype;
        instruction.immediate = node.immediate;
        instruction.custom = node.custom;
        for (int i = 0; i < node.input_count; ++i) {
            const int input = node.inputs.items[i];
            if (find_input(builder, input, node.shape, group) < 0) {
                add_instruction(builder, input, group);
            }
            instruction.arguments.items[i] = find_input(builder, input, node.shape, group);
        }
        builder.define(id, builder.chain.given + builder.chain.count);
        builder.chain.instructions[static_cast<std::size_t>(builder.chain.count++)] = instruction;
    }

    constexpr void build_chain(ChainBuilder& builder, Kernel& kernel, Step& step, const Group& group) {
        for (std::size_t i = group.members.size(); i-- > 0;) {
            const Node& member = nodes_[group.members[i]];
            for (int which = 0; which < member.input_count; ++which) {
                const int input = member.inputs.items[which];
                bool inner = false;
                for (const int other : group.members) {
                    inner = inner || other == input;
                }
                if (!inner) {
                    const bool moves = is_view(member.op);
                    collect_operand(builder, kernel, step, input, moves ? nodes_[input].shape : member.shape, group);
                }
            }
        }
        for (std::size_t i = group.members.size(); i-- > 0;) {
            add_instruction(builder, group.members[i], group);
        }
    }

    /// Copies what is made of weights alone of concatenations that stand between the first GEMM and the layers: before
    /// that GEMM, such a copy can run together with other small steps. Not into large ones, larger than what the GEMM
    /// makes: their memory would be taken that much longer.
    constexpr void copy_parts_of_weights(int first_gemm) {
        constexpr Index fewest_of_large = Index{1} << 18;
        const Index of_gemm = nodes_[first_gemm].shape.size();
        const Index most_elements = of_gemm > fewest_of_large ? of_gemm : fewest_of_large;
        for (int id = first_gemm; id < graph_.size(); ++id) {
            if (nodes_[id].iteration >= 0 || (nodes_[id].op == Op::weight && nodes_[id].layer >= 0)) {
                return;
            }
            if (parts_.has_parts(id) && nodes_[id].shape.size() <= most_elements) {
                step_list_.add_parts_of_weights(id);
            }
        }
    }

    constexpr void emit_group(const Group& group) {
        if (!has_gemm_ && is_gemm(nodes_, group)) {
            has_gemm_ = true;
            copy_parts_of_weights(group.root);
        }
        const int whole = parts_.whole_of(group.root);
        if (whole >= 0) {
            step_list_.add_parts(whole, group.root);
        }
        Kernel kernel;
        Step step;
        step.node = group.root;
        kernel.dtype = nodes_[group.root].dtype;
        kernel.iteration = group.shape;
        kernel.row_rank = group.shape.rank;
        kernel.kind = KernelKind::pointwise;
        ChainBuilder builder(kernel.chain);
        if (group.members.size() == 1 && is_view(nodes_[group.root].op)) {
            begin_copy(kernel, step, builder, group);
        }
        if (is_gemm(nodes_, group)) {
            begin_gemm(kernel, step, builder, group);
        } else if (group.anchor_count > 0) {
            begin_reduction(kernel, step, builder, group);
        }
        build_chain(builder, kernel, step, group);
        kernel.output_strides = contiguous_strides(kernel.iteration);
        if (kernel.kind == KernelKind::reduction) {
            kernel.output_strides = broadcast_strides(group.shape, contiguous_strides(group.shape), kernel.iteration);
        }
        const int store = fused_stores_.store_of(group.root);
        step.output = store >= 0   ? store_output(kernel, nodes_[store], group)
                      : whole >= 0 ? step_list_.part_output(whole, group.root)
                                   : references_.new_buffer(group.root);
        if (whole >= 0) {
            kernel.output_strides = contiguous_strides(nodes_[whole].shape);
        }
        if (kernel.kind == KernelKind::reduction) {
            kernel.output_strides.items[kernel.iteration.rank - 1] = 0;
        }
        // The copy of a reshape walks through the axes of its input.
        if (kernel.kind != KernelKind::pointwise || kernel.iteration == group.shape) {
            kernel.bounds = bounds_of(kernel, group.root, rotates_pairs(group));
        }
        collapse(kernel);
        step_list_.add(kernel, step);
    }

    /// A view that needs elements of its own.
    constexpr void begin_copy(Kernel& kernel, Step& step, ChainBuilder& builder, const Group& group) {
        const Location& source = found_.source[static_cast<std::size_t>(group.root)];
        const int input = nodes_[group.root].inputs.items[0];
        if (!source.is_view) {
            kernel.iteration = nodes_[input].shape;  // a reshape: same order of elements
            kernel.row_rank = kernel.iteration.rank;
        }
        kernel.operand_count = 1;
        kernel.operands.items[0].dtype = nodes_[input].dtype;
        kernel.operands.items[0].strides = source.strides;
        step.operands.items[0] = references_.at(source);
        builder.define(input, builder.chain.given++);
    }

    constexpr void begin_gemm(Kernel& kernel, Step& step, ChainBuilder& builder, const Group& group) {
        const Node& anchor = nodes_[group.anchors.items[0]];
        kernel.kind = KernelKind::gemm;
        kernel.row_rank = anchor.shape.rank - 1;
        kernel.accumulators = group.anchor_count;
        kernel.k = nodes_[anchor.inputs.items[0]].shape[-1];
        step.input = references_.to(anchor.inputs.items[0]);
        const Location& location = locations_[static_cast<std::size_t>(anchor.inputs.items[0])];
        kernel.input_stride = row_stride(nodes_[anchor.inputs.items[0]].shape, location.strides);
        const int second = group.anchor_count == 2 ? nodes_[group.anchors.items[1]].inputs.items[1] : -1;
        step.weight.space = Space::weight;
        step.weight.index = references_.weight(anchor.inputs.items[1], second, true);
        for (int i = 0; i < group.anchor_count; ++i) {
            builder.define(group.anchors.items[i], builder.chain.given++);
        }
    }

    constexpr void begin_reduction(Kernel& kernel, Step& step, ChainBuilder& builder, const Group& group) {
        const Node& anchor = nodes_[group.anchors.items[0]];
        kernel.kind = KernelKind::reduction;
        kernel.op = anchor.op;
        kernel.accumulators = 1;
        kernel.iteration = nodes_[anchor.inputs.items[0]].shape;
        kernel.row_rank = kernel.iteration.rank - 1;
        ChainBuilder prologue(kernel.prologue);
        if (group.partner >= 0 && !fusion_.groups[static_cast<std::size_t>(group.partner)].members.empty()) {
            build_chain(prologue, kernel, step, fusion_.groups[static_cast<std::size_t>(group.partner)]);
        } else {
            collect_operand(prologue, kernel, step, anchor.inputs.items[0], kernel.iteration, group);
        }
        kernel.prologue_operands = kernel.operand_count;
        builder.define(group.anchors.items[0], builder.chain.given++);
    }

    /// The distance between rows that lie evenly; 0 for a single row.
    static constexpr Index row_stride(const Shape& shape, const Strides& strides) {
        for (int axis = shape.rank - 2; axis >= 0; --axis) {
            if (shape[axis] != 1) {
                return strides.items[axis];
            }
        }
        return shape[-1];
    }

    /// The group writes straight into the state.
    constexpr Reference store_output(Kernel& kernel, const Node& store, const Group& group) {
        const Shape& state = nodes_[store.inputs.items[0]].shape;
        const Strides strides = contiguous_strides(state);
        const auto axis = static_cast<std::size_t>(store.attributes.items[0]);
        Reference output;
        output.space = Space::state;
        output.index = references_.state(store.inputs.items[0]);
        if (store.input_count == 3) {
            output.position = references_.state(store.inputs.items[2]);
            output.position_stride = strides[axis];
            output.last_position = last_position(store);
            output.capacity = state[static_cast<int>(axis)];
        } else {
            output.offset = store.attributes.items[1] * (state.rank == 0 ? 0 : strides[axis]);
        }
        kernel.output_strides = strides;
        const Shape& value = nodes_[store.inputs.items[1]].shape;
        if (value.rank + 1 == group.shape.rank) {  // the state has the last two axes as one
            const auto last = static_cast<std::size_t>(group.shape.rank - 1);
            kernel.output_strides[last] = kernel.output_strides[last - 1];
            kernel.output_strides[last - 1] *= group.shape[-1];
        }
        return output;
    }

    /// The largest position at which the value of a store lies inside the state.
    constexpr Index last_position(const Node& store) const {
        const auto axis = static_cast<int>(store.attributes.items[0]);
        return nodes_[store.inputs.items[0]].shape[axis] - nodes_[store.inputs.items[1]].shape[axis];
    }

    // --- Structural kernels ------------------------------------------------------------------------------------------

    constexpr void emit_structural(int id) {
        const Node& node = nodes_[id];
        Kernel kernel;
        Step step;
        step.node = id;
        kernel.kind = KernelKind::structural;
        kernel.op = node.op;
        kernel.dtype = node.dtype;
        kernel.iteration = node.shape;
        kernel.row_rank = node.shape.rank == 0 ? 0 : node.shape.rank - 1;
        kernel.attributes = node.attributes;
        kernel.attention = node.attention;
        kernel.custom = node.custom;
        const int first = node.op == Op::store ? 1 : 0;
        const bool overlaps = node.op == Op::store &&
                              locations_[static_cast<std::size_t>(node.inputs.items[1])].base == node.inputs.items[0];
        const Reference copied = overlaps ? step_list_.add_copy(node.inputs.items[1], id) : Reference{};
        for (int i = first; i < node.input_count; ++i) {
            const int input = node.inputs.items[i];
            const bool is_copied = overlaps && i == 1;
            const auto place = static_cast<std::size_t>(kernel.operand_count++);
            kernel.operands[place].dtype = nodes_[input].dtype;
            kernel.operands[place].shape = nodes_[input].shape;
            kernel.operands[place].strides = is_copied ? contiguous_strides(nodes_[input].shape)
                                                       : locations_[static_cast<std::size_t>(input)].strides;
            step.operands[place] = is_copied ? copied : references_.to(input);
        }
        if (node.op == Op::store) {
            const Shape& state = nodes_[node.inputs.items[0]].shape;
            kernel.output_strides = contiguous_strides(state);
            step.output.space = Space::state;
            step.output.index = references_.state(node.inputs.items[0]);
            kernel.attributes.items[2] = node.input_count == 3 ? last_position(node) : 0;
            for (int axis = 0; axis < state.rank; ++axis) {
                if (axis != node.attributes.items[0]) {
                    kernel.iteration[axis] = state[axis];
                }
            }
        } else {
            kernel.output_strides = contiguous_strides(node.shape);
            step.output = references_.new_buffer(id);
        }
        kernel.bounds = bounds_of(kernel, id);
        step_list_.add(kernel, step);
    }

    /// Whether an element of a group's chain is made of its neighbour along the last axis.
    constexpr bool rotates_pairs(const Group& group) const {
        for (const int member : group.members) {
            if (nodes_[member].op == Op::rotate_pairs) {
                return true;
            }
        }
        return false;
    }

    /// The bounds of a kernel that makes a node. Pairs along the last axis are not parted by one.
    constexpr LoopBounds bounds_of(const Kernel& kernel, int id, bool has_pairs = false) const {
        if (bounds_.empty()) {
            return {};
        }
        const Shape& shape = nodes_[id].shape;
        AxisBounds bounds = bounds_[static_cast<std::size_t>(id)];
        if (has_pairs) {
            bounds.items[shape.rank - 1] = 0;
        }
        return loop_bounds(kernel.iteration, kernel.row_rank, shape, bounds);
    }

    const Graph& graph_;
    const Node* nodes_;
    List<char> weight_expression_;
    List<StoreEvent> stores_;
    Locations found_;
    const List<Location>& locations_;
    Fusion fusion_;
    FusedStores fused_stores_;
    List<AxisBounds> bounds_;  ///< By node, if there are any.
    FusedConcatenates parts_;
    LateParts late_parts_;
    bool has_gemm_ = false;  ///< Whether a GEMM has been planned.
    Plan plan_;
    References references_;
    StepList step_list_;
};

}  // namespace detail

/// Plans a rewritten graph: kernels, steps, prepared weights, and one arena for all intermediates.
constexpr Plan make_plan(const Graph& graph, Passes passes) {
    return detail::Planner(graph, passes).run();
}

}  // namespace totograph
