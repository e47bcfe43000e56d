// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/fuse.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/location.hpp>
#include <totograph/graph/rewrite.hpp>

namespace totograph {

/// A buffer that outlives a run.
struct StateSlot {
    std::string_view name;
    int layer = -1;
    DType dtype = DType::f32;
    Shape shape;
    int node = 0;
};

/// A planned program: steps in order, the distinct kernels that they call, and where everything lies.
struct Plan {
    std::vector<Kernel> kernels;
    std::vector<Step> steps;
    std::vector<PreparedWeight> weights;
    std::vector<StateSlot> states;
    std::vector<Buffer> buffers;
    std::size_t arena_bytes = 0;
    ModelError error;
};

namespace detail {

/// A number for each weight expression that depends on what it computes alone, so that programs that need the same
/// prepared weight share it.
constexpr std::vector<std::uint64_t> find_identities(const Graph& graph, const std::vector<char>& weight_expression) {
    std::vector<std::uint64_t> identities(graph.nodes.size(), 0);
    for (int id = 0; id < graph.size(); ++id) {
        if (!weight_expression[static_cast<std::size_t>(id)]) {
            continue;
        }
        const Node& node = graph[id];
        std::uint64_t hash = mix(static_cast<std::uint64_t>(node.op) + 1, static_cast<std::uint64_t>(node.dtype));
        for (int i = 0; i < node.input_count; ++i) {
            hash = mix(hash, identities[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(i)])]);
        }
        for (int axis = 0; axis < node.shape.rank; ++axis) {
            hash = mix(hash, static_cast<std::uint64_t>(node.shape[axis]));
        }
        for (const Index attribute : node.attributes) {
            hash = mix(hash, static_cast<std::uint64_t>(attribute));
        }
        for (const char character : node.custom == nullptr ? node.name : node.custom->name) {
            hash = mix(hash, static_cast<std::uint64_t>(static_cast<unsigned char>(character)));
        }
        hash = mix(hash, static_cast<std::uint64_t>(node.layer + 1));
        identities[static_cast<std::size_t>(id)] = mix(hash, std::bit_cast<std::uint64_t>(node.immediate));
    }
    return identities;
}

class Planner {
public:
    constexpr Planner(const Graph& graph, Passes passes)
        : graph_(graph),
          weight_expression_(find_weight_expressions(graph)),
          stores_(find_stores(graph)),
          found_(find_locations(graph, weight_expression_, stores_)),
          locations_(found_.seen),
          fusion_(Fuser(graph, weight_expression_, locations_, stores_, passes.fuse_elementwise).run()),
          identities_(find_identities(graph, weight_expression_)),
          buffer_of_(graph.nodes.size(), -1),
          weight_of_(graph.nodes.size(), -1),
          state_of_(graph.nodes.size(), -1),
          fused_store_of_(graph.nodes.size(), -1) {}

    constexpr Plan run() {
        for (int id = 0; id < graph_.size(); ++id) {
            if (graph_[id].op == Op::state) {
                state_of_[static_cast<std::size_t>(id)] = static_cast<int>(plan_.states.size());
                plan_.states.push_back({graph_[id].name, graph_[id].layer, graph_[id].dtype, graph_[id].shape, id});
            }
        }
        find_fused_stores();
        std::vector<int> group_at(graph_.nodes.size(), -1);
        for (std::size_t group = 0; group < fusion_.groups.size(); ++group) {
            if (!fusion_.groups[group].is_prologue) {
                group_at[static_cast<std::size_t>(fusion_.groups[group].root)] = static_cast<int>(group);
            }
        }
        for (int id = 0; id < graph_.size(); ++id) {
            const auto place = static_cast<std::size_t>(id);
            if (group_at[place] >= 0) {
                emit_group(fusion_.groups[static_cast<std::size_t>(group_at[place])]);
            } else if (!weight_expression_[place] && graph_[id].op != Op::state && !locations_[place].is_view &&
                       fusion_.group_of[place] < 0 && !is_fused_store(id)) {
                emit_structural(id);
            }
        }
        place_buffers();
        return static_cast<Plan&&>(plan_);
    }

private:
    /// A store can be the output of the group that makes its value when nothing in between looks at the state.
    constexpr void find_fused_stores() {
        for (const StoreEvent& event : stores_) {
            const Node& store = graph_[event.node];
            if (store.input_count == 3 &&
                !(graph_[store.inputs[2]].op == Op::state && graph_[store.inputs[2]].shape.size() == 1)) {
                continue;
            }
            int value = store.inputs[1];
            while (graph_[value].op == Op::reshape && fusion_.group_of[static_cast<std::size_t>(value)] < 0 &&
                   fusion_.consumer_count[static_cast<std::size_t>(value)] == 1 &&
                   splits_last_axis(graph_[value].shape, graph_.input(graph_[value], 0).shape)) {
                value = graph_[value].inputs[0];
            }
            const int group = fusion_.group_of[static_cast<std::size_t>(value)];
            const bool reshaped = value != store.inputs[1];
            const bool broadcasts = !stores_whole_extents(store);
            if (group < 0 || fusion_.groups[static_cast<std::size_t>(group)].root != value ||
                fusion_.consumer_count[static_cast<std::size_t>(value)] != 1 || broadcasts ||
                is_view(graph_[value].op) ||  // a copy runs over its input's shape
                (reshaped && graph_[store.inputs[1]].shape.rank + 1 != graph_[value].shape.rank) ||
                is_touched_between(event.state, value, event.node) ||
                (store.input_count == 3 && written_between(stores_, store.inputs[2], value, event.node))) {
                continue;
            }
            fused_store_of_[static_cast<std::size_t>(value)] = event.node;
        }
    }

    [[nodiscard]] constexpr bool is_fused_store(int id) const {
        if (graph_[id].op != Op::store) {
            return false;
        }
        int value = graph_[id].inputs[1];
        if (fused_store_of_[static_cast<std::size_t>(value)] == id) {
            return true;
        }
        return graph_[value].op == Op::reshape &&
               fused_store_of_[static_cast<std::size_t>(graph_[value].inputs[0])] == id;
    }

    [[nodiscard]] constexpr bool stores_whole_extents(const Node& store) const {
        const Shape& state = graph_[store.inputs[0]].shape;
        const Shape& value = graph_[store.inputs[1]].shape;
        for (int axis = 0; axis < state.rank; ++axis) {
            if (axis != store.attributes[0] && value[axis] != state[axis]) {
                return false;
            }
        }
        return true;
    }

    /// Whether a node recorded before the store, but run with the group of `value` or after it, reads or writes the
    /// state.
    [[nodiscard]] constexpr bool is_touched_between(int state, int value, int store) const {
        for (int id = 0; id < store; ++id) {
            const int group = fusion_.group_of[static_cast<std::size_t>(id)];
            const int runs_at = group < 0 ? id : fusion_.groups[static_cast<std::size_t>(group)].root;
            const Node& node = graph_[id];
            for (int i = 0; runs_at >= value && i < node.input_count; ++i) {
                const int input = node.inputs[static_cast<std::size_t>(i)];
                const Location& location = locations_[static_cast<std::size_t>(input)];
                if (input == state || location.base == state || location.position == state) {
                    return true;
                }
            }
        }
        return false;
    }

    // --- References
    // ---------------------------------------------------------------------------------------------------

    constexpr Reference reference_to(int id) {
        if (weight_expression_[static_cast<std::size_t>(id)]) {
            Reference reference;
            reference.space = Space::weight;
            reference.index = prepared_weight(id, -1, false);
            return reference;
        }
        return reference_at(locations_[static_cast<std::size_t>(id)]);
    }

    constexpr Reference reference_at(const Location& location) {
        Reference reference;
        reference.offset = location.offset;
        if (location.position >= 0) {
            reference.position = state_of_[static_cast<std::size_t>(location.position)];
            reference.position_stride = location.position_stride;
        }
        const auto base = static_cast<std::size_t>(location.base);
        if (weight_expression_[base]) {
            reference.space = Space::weight;
            reference.index = prepared_weight(location.base, -1, false);
        } else if (graph_[location.base].op == Op::state) {
            reference.space = Space::state;
            reference.index = state_of_[base];
        } else {
            reference.space = Space::arena;
            reference.index = buffer_of_[base];
            plan_.buffers[static_cast<std::size_t>(reference.index)].last_step = static_cast<int>(plan_.steps.size());
        }
        return reference;
    }

    constexpr int prepared_weight(int id, int second, bool packed) {
        const std::uint64_t identity = mix(mix(identities_[static_cast<std::size_t>(id)],
                                               second < 0 ? 1 : identities_[static_cast<std::size_t>(second)]),
                                           packed ? 2 : 3);
        if (!packed && weight_of_[static_cast<std::size_t>(id)] >= 0) {
            return weight_of_[static_cast<std::size_t>(id)];
        }
        for (std::size_t i = 0; packed && i < plan_.weights.size(); ++i) {
            if (plan_.weights[i].identity == identity) {
                return static_cast<int>(i);
            }
        }
        plan_.weights.push_back({id, second, packed, identity});
        const int index = static_cast<int>(plan_.weights.size()) - 1;
        if (!packed) {
            weight_of_[static_cast<std::size_t>(id)] = index;
        }
        return index;
    }

    constexpr Reference new_buffer(int id) {
        Buffer buffer;
        buffer.node = id;
        buffer.bytes =
            aligned_size(static_cast<std::size_t>(graph_[id].shape.size()) * size_in_bytes(graph_[id].dtype));
        buffer.first_step = static_cast<int>(plan_.steps.size());
        buffer.last_step = buffer.first_step;
        buffer_of_[static_cast<std::size_t>(id)] = static_cast<int>(plan_.buffers.size());
        plan_.buffers.push_back(buffer);
        Reference reference;
        reference.space = Space::arena;
        reference.index = buffer_of_[static_cast<std::size_t>(id)];
        return reference;
    }

    // --- Groups
    // -------------------------------------------------------------------------------------------------------

    /// A chain under construction: which node has which value number.
    struct ChainBuilder {
        Chain chain;
        std::vector<int> nodes;
        std::vector<int> values;

        constexpr void define(int node, int value) {
            nodes.push_back(node);
            values.push_back(value);
        }
        [[nodiscard]] constexpr int find(int node) const {
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                if (nodes[i] == node) {
                    return values[i];
                }
            }
            return -1;
        }
    };

    /// Strides of a tensor for the loop of a group.
    constexpr Strides loop_strides(int input, const Shape& member_shape, const Group& group) {
        const Location& location = locations_[static_cast<std::size_t>(input)];
        Strides strides = broadcast_strides(graph_[input].shape, location.strides, member_shape);
        if (group.merged.rank != 0 && member_shape == group.merged) {
            const auto last = static_cast<std::size_t>(group.shape.rank - 1);
            strides[last] = strides[last - 1];
            strides[last - 1] *= group.shape[-1];
        }
        return strides;
    }

    constexpr bool is_scalar_constant(int id) const { return graph_[id].op == Op::constant; }

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
        kernel.operands[place].dtype = graph_[input].dtype;
        kernel.operands[place].strides = loop_strides(input, member_shape, group);
        step.operands[place] = reference_to(input);
        builder.define(key, builder.chain.given++);
    }

    static constexpr bool is_anchor(const Group& group, int id) {
        return (group.anchor_count > 0 && group.anchors[0] == id) || (group.anchor_count > 1 && group.anchors[1] == id);
    }

    /// The value of an input of a member; -1 for a constant that is met for the first time.
    static constexpr int find_input(const ChainBuilder& builder, int input, const Shape& member_shape,
                                    const Group& group) {
        const int walked = builder.find(operand_key(input, member_shape, group));
        return walked >= 0 ? walked : builder.find(input);
    }

    constexpr void add_instruction(ChainBuilder& builder, int id, const Group& group) {
        const Node& node = graph_[id];
        if (is_view(node.op)) {  // the split of an axis, or a copy: the value itself
            builder.define(id, find_input(builder, node.inputs[0], graph_.input(node, 0).shape, group));
            return;
        }
        Instruction instruction;
        instruction.op = node.op;
        instruction.dtype = node.dtype;
        instruction.immediate = node.immediate;
        instruction.custom = node.custom;
        for (int i = 0; i < node.input_count; ++i) {
            const int input = node.inputs[static_cast<std::size_t>(i)];
            if (find_input(builder, input, node.shape, group) < 0) {
                add_instruction(builder, input, group);
            }
            instruction.arguments[static_cast<std::size_t>(i)] = find_input(builder, input, node.shape, group);
        }
        builder.define(id, builder.chain.given + builder.chain.count);
        builder.chain.instructions[static_cast<std::size_t>(builder.chain.count++)] = instruction;
    }

    constexpr void build_chain(ChainBuilder& builder, Kernel& kernel, Step& step, const Group& group) {
        for (std::size_t i = group.members.size(); i-- > 0;) {
            const Node& member = graph_[group.members[i]];
            for (int which = 0; which < member.input_count; ++which) {
                const int input = member.inputs[static_cast<std::size_t>(which)];
                bool inner = false;
                for (const int other : group.members) {
                    inner = inner || other == input;
                }
                if (!inner) {
                    const bool moves = is_view(member.op);
                    collect_operand(builder, kernel, step, input, moves ? graph_[input].shape : member.shape, group);
                }
            }
        }
        for (std::size_t i = group.members.size(); i-- > 0;) {
            add_instruction(builder, group.members[i], group);
        }
    }

    constexpr void emit_group(const Group& group) {
        Kernel kernel;
        Step step;
        step.node = group.root;
        kernel.dtype = graph_[group.root].dtype;
        kernel.iteration = group.shape;
        kernel.row_rank = group.shape.rank;
        kernel.kind = KernelKind::pointwise;
        ChainBuilder builder;
        if (group.members.size() == 1 && is_view(graph_[group.root].op)) {
            begin_copy(kernel, step, builder, group);
        }
        if (group.anchor_count > 0 && graph_[group.anchors[0]].op == Op::linear) {
            begin_product(kernel, step, builder, group);
        } else if (group.anchor_count > 0) {
            begin_reduction(kernel, step, builder, group);
        }
        build_chain(builder, kernel, step, group);
        kernel.chain = builder.chain;
        kernel.output_strides = contiguous_strides(kernel.iteration);
        if (kernel.kind == KernelKind::reduction) {
            kernel.output_strides = broadcast_strides(group.shape, contiguous_strides(group.shape), kernel.iteration);
        }
        const int store = fused_store_of_[static_cast<std::size_t>(group.root)];
        step.output = store < 0 ? new_buffer(group.root) : store_output(kernel, graph_[store], group);
        if (kernel.kind == KernelKind::reduction) {
            kernel.output_strides[static_cast<std::size_t>(kernel.iteration.rank - 1)] = 0;
        }
        collapse(kernel);
        emit(kernel, step);
    }

    /// A view that needs elements of its own.
    constexpr void begin_copy(Kernel& kernel, Step& step, ChainBuilder& builder, const Group& group) {
        const Location& source = found_.source[static_cast<std::size_t>(group.root)];
        const int input = graph_[group.root].inputs[0];
        if (!source.is_view) {
            kernel.iteration = graph_[input].shape;  // a reshape: same order of elements
            kernel.row_rank = kernel.iteration.rank;
        }
        kernel.operand_count = 1;
        kernel.operands[0].dtype = graph_[input].dtype;
        kernel.operands[0].strides = source.strides;
        step.operands[0] = reference_at(source);
        builder.define(input, builder.chain.given++);
    }

    constexpr void begin_product(Kernel& kernel, Step& step, ChainBuilder& builder, const Group& group) {
        const Node& anchor = graph_[group.anchors[0]];
        kernel.kind = KernelKind::product;
        kernel.row_rank = anchor.shape.rank - 1;
        kernel.accumulators = group.anchor_count;
        kernel.depth = graph_.input(anchor, 0).shape[-1];
        step.input = reference_to(anchor.inputs[0]);
        const Location& location = locations_[static_cast<std::size_t>(anchor.inputs[0])];
        kernel.input_stride = row_stride(graph_.input(anchor, 0).shape, location.strides);
        const int second = group.anchor_count == 2 ? graph_[group.anchors[1]].inputs[1] : -1;
        step.weight.space = Space::weight;
        step.weight.index = prepared_weight(anchor.inputs[1], second, true);
        for (int i = 0; i < group.anchor_count; ++i) {
            builder.define(group.anchors[static_cast<std::size_t>(i)], builder.chain.given++);
        }
    }

    constexpr void begin_reduction(Kernel& kernel, Step& step, ChainBuilder& builder, const Group& group) {
        const Node& anchor = graph_[group.anchors[0]];
        kernel.kind = KernelKind::reduction;
        kernel.op = anchor.op;
        kernel.accumulators = 1;
        kernel.iteration = graph_.input(anchor, 0).shape;
        kernel.row_rank = kernel.iteration.rank - 1;
        ChainBuilder prologue;
        if (group.prologue >= 0 && !fusion_.groups[static_cast<std::size_t>(group.prologue)].members.empty()) {
            build_chain(prologue, kernel, step, fusion_.groups[static_cast<std::size_t>(group.prologue)]);
        } else {
            collect_operand(prologue, kernel, step, anchor.inputs[0], kernel.iteration, group);
        }
        kernel.prologue = prologue.chain;
        kernel.prologue_operands = kernel.operand_count;
        builder.define(group.anchors[0], builder.chain.given++);
    }

    /// The distance between rows that lie evenly; 0 for a single row.
    static constexpr Index row_stride(const Shape& shape, const Strides& strides) {
        for (int axis = shape.rank - 2; axis >= 0; --axis) {
            if (shape[axis] != 1) {
                return strides[static_cast<std::size_t>(axis)];
            }
        }
        return shape[-1];
    }

    /// The group writes straight into the state.
    constexpr Reference store_output(Kernel& kernel, const Node& store, const Group& group) {
        const Shape& state = graph_[store.inputs[0]].shape;
        const Strides strides = contiguous_strides(state);
        const auto axis = static_cast<std::size_t>(store.attributes[0]);
        Reference output;
        output.space = Space::state;
        output.index = state_of_[static_cast<std::size_t>(store.inputs[0])];
        if (store.input_count == 3) {
            output.position = state_of_[static_cast<std::size_t>(store.inputs[2])];
            output.position_stride = strides[axis];
        } else {
            output.offset = store.attributes[1] * (state.rank == 0 ? 0 : strides[axis]);
        }
        kernel.output_strides = strides;
        const Shape& value = graph_[store.inputs[1]].shape;
        if (value.rank + 1 == group.shape.rank) {  // the state has the last two axes as one
            const auto last = static_cast<std::size_t>(group.shape.rank - 1);
            kernel.output_strides[last] = kernel.output_strides[last - 1];
            kernel.output_strides[last - 1] *= group.shape[-1];
        }
        return output;
    }

    /// Joins neighbouring loop axes that every operand walks through evenly, and drops axes of extent 1.
    static constexpr void collapse(Kernel& kernel) {
        int axis = 0;
        while (axis < kernel.iteration.rank) {
            const bool is_row = axis < kernel.row_rank;
            if (kernel.iteration[axis] == 1 && kernel.iteration.rank > 1 &&
                (is_row || kernel.iteration.rank - kernel.row_rank > 1)) {
                remove_axis(kernel, axis);
                continue;
            }
            const bool next_is_row = axis + 1 < kernel.row_rank;
            if (axis + 1 < kernel.iteration.rank && is_row == next_is_row && is_even(kernel, axis)) {
                kernel.iteration[axis + 1] *= kernel.iteration[axis];
                remove_axis(kernel, axis);
                continue;
            }
            ++axis;
        }
        // A pointwise kernel runs over rows of one column axis: the innermost.
        if (kernel.kind == KernelKind::pointwise && kernel.row_rank == kernel.iteration.rank && kernel.row_rank > 0) {
            --kernel.row_rank;
        }
    }

    static constexpr bool is_even(const Kernel& kernel, int axis) {
        const auto outer = static_cast<std::size_t>(axis);
        const Index extent = kernel.iteration[axis + 1];
        bool even = kernel.output_strides[outer] == kernel.output_strides[outer + 1] * extent;
        for (int i = 0; i < kernel.operand_count; ++i) {
            const Strides& strides = kernel.operands[static_cast<std::size_t>(i)].strides;
            even = even && strides[outer] == strides[outer + 1] * extent;
        }
        return even;
    }

    static constexpr void remove_axis(Kernel& kernel, int axis) {
        const auto drop = [axis](Strides& strides) {
            for (auto i = static_cast<std::size_t>(axis); i + 1 < strides.size(); ++i) {
                strides[i] = strides[i + 1];
            }
            strides.back() = 0;
        };
        for (int i = axis; i + 1 < kernel.iteration.rank; ++i) {
            kernel.iteration[i] = kernel.iteration[i + 1];
        }
        --kernel.iteration.rank;
        kernel.iteration.extents[static_cast<std::size_t>(kernel.iteration.rank)] = 0;
        if (axis < kernel.row_rank) {
            --kernel.row_rank;
        }
        drop(kernel.output_strides);
        for (int i = 0; i < kernel.operand_count; ++i) {
            drop(kernel.operands[static_cast<std::size_t>(i)].strides);
        }
    }

    // --- Structural kernels
    // -------------------------------------------------------------------------------------------

    constexpr void emit_structural(int id) {
        const Node& node = graph_[id];
        Kernel kernel;
        Step step;
        step.node = id;
        kernel.kind = KernelKind::structural;
        kernel.op = node.op;
        kernel.dtype = node.dtype;
        kernel.iteration = node.shape;
        kernel.row_rank = node.shape.rank == 0 ? 0 : node.shape.rank - 1;
        kernel.attributes = node.attributes;
        kernel.custom = node.custom;
        const int first = node.op == Op::store ? 1 : 0;
        const bool overlaps =
            node.op == Op::store && locations_[static_cast<std::size_t>(node.inputs[1])].base == node.inputs[0];
        const Reference copied = overlaps ? emit_copy(node.inputs[1], id) : Reference{};
        for (int i = first; i < node.input_count; ++i) {
            const int input = node.inputs[static_cast<std::size_t>(i)];
            const bool is_copied = overlaps && i == 1;
            const auto place = static_cast<std::size_t>(kernel.operand_count++);
            kernel.operands[place].dtype = graph_[input].dtype;
            kernel.operands[place].shape = graph_[input].shape;
            kernel.operands[place].strides = is_copied ? contiguous_strides(graph_[input].shape)
                                                       : locations_[static_cast<std::size_t>(input)].strides;
            step.operands[place] = is_copied ? copied : reference_to(input);
        }
        if (node.op == Op::store) {
            const Shape& state = graph_[node.inputs[0]].shape;
            kernel.output_strides = contiguous_strides(state);
            step.output.space = Space::state;
            step.output.index = state_of_[static_cast<std::size_t>(node.inputs[0])];
            for (int axis = 0; axis < state.rank; ++axis) {
                if (axis != node.attributes[0]) {
                    kernel.iteration[axis] = state[axis];
                }
            }
        } else {
            kernel.output_strides = contiguous_strides(node.shape);
            step.output = new_buffer(id);
        }
        emit(kernel, step);
    }

    /// Copies a view of a state that a store is about to change, into a buffer of the store's.
    constexpr Reference emit_copy(int view, int store) {
        Kernel kernel;
        Step step;
        step.node = view;
        kernel.kind = KernelKind::pointwise;
        kernel.dtype = graph_[view].dtype;
        kernel.iteration = graph_[view].shape;
        kernel.row_rank = kernel.iteration.rank;
        kernel.output_strides = contiguous_strides(kernel.iteration);
        kernel.operand_count = 1;
        kernel.operands[0].dtype = kernel.dtype;
        kernel.operands[0].strides = locations_[static_cast<std::size_t>(view)].strides;
        kernel.chain.given = 1;
        step.operands[0] = reference_to(view);
        step.output = new_buffer(store);
        collapse(kernel);
        emit(kernel, step);
        plan_.buffers.back().last_step = static_cast<int>(plan_.steps.size());
        return step.output;
    }

    constexpr void emit(const Kernel& kernel, Step& step) {
        step.kernel = -1;
        for (std::size_t i = 0; i < plan_.kernels.size() && step.kernel < 0; ++i) {
            if (plan_.kernels[i] == kernel) {
                step.kernel = static_cast<int>(i);
            }
        }
        if (step.kernel < 0) {
            step.kernel = static_cast<int>(plan_.kernels.size());
            plan_.kernels.push_back(kernel);
        }
        plan_.steps.push_back(step);
    }

    // --- Memory
    // -------------------------------------------------------------------------------------------------------

    /// First fit in order of need: a buffer lies in the lowest gap among those alive with it.
    constexpr void place_buffers() {
        std::vector<int> alive;  // by offset
        for (std::size_t next = 0; next < plan_.buffers.size(); ++next) {
            Buffer& buffer = plan_.buffers[next];
            std::size_t kept = 0;
            for (const int other : alive) {
                if (plan_.buffers[static_cast<std::size_t>(other)].last_step >= buffer.first_step) {
                    alive[kept++] = other;
                }
            }
            alive.resize(kept);
            std::size_t offset = 0;
            std::size_t place = 0;
            while (place < alive.size()) {
                const Buffer& other = plan_.buffers[static_cast<std::size_t>(alive[place])];
                if (offset + buffer.bytes <= other.offset) {
                    break;
                }
                offset = other.offset + other.bytes;
                ++place;
            }
            buffer.offset = offset;
            alive.insert(alive.begin() + static_cast<std::ptrdiff_t>(place), static_cast<int>(next));
            plan_.arena_bytes = plan_.arena_bytes < offset + buffer.bytes ? offset + buffer.bytes : plan_.arena_bytes;
        }
    }

    const Graph& graph_;
    std::vector<char> weight_expression_;
    std::vector<StoreEvent> stores_;
    Locations found_;
    const std::vector<Location>& locations_;
    Fusion fusion_;
    std::vector<std::uint64_t> identities_;
    std::vector<int> buffer_of_;
    std::vector<int> weight_of_;
    std::vector<int> state_of_;
    std::vector<int> fused_store_of_;
    Plan plan_;
};

}  // namespace detail

/// The states of a graph, without a plan.
constexpr Plan list_states(const Graph& graph) {
    Plan plan;
    for (int id = 0; id < graph.size(); ++id) {
        if (graph[id].op == Op::state) {
            plan.states.push_back({graph[id].name, graph[id].layer, graph[id].dtype, graph[id].shape, id});
        }
    }
    return plan;
}

/// Plans a rewritten graph: kernels, steps, prepared weights, and one arena for all intermediates.
constexpr Plan make_plan(const Graph& graph, Passes passes) {
    return detail::Planner(graph, passes).run();
}

}  // namespace totograph
