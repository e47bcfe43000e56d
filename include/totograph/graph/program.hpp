// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/plan/find_loop.hpp>
#include <totograph/graph/plan/plan.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/record/loop_choices.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/recorder.hpp>

namespace totograph {

/// Records a model: a type with `static constexpr void record(Recorder&)`.
/// @param choices  how much of its loops
template <class Model>
constexpr Graph record(LoopChoices choices = all_iterations) {
    Recorder recorder(choices);
    if constexpr (requires { Model::record(recorder); }) {
        Model::record(recorder);
        recorder.check_effects();
    } else {
        static_assert(
            sizeof(Model) == 0,
            "totograph: a model is a type with `static constexpr void record(totograph::Recorder&)`, which is "
            "public; this one has none that can be called so.");
    }
    return recorder.take_graph();
}

namespace detail {

// One sentence for each kind of mistake in the code of a model. The mistake is a template argument, so that the
// compiler prints its figures beside the sentence.

/// The mistakes in shapes and dtypes.
template <ModelError mistake>
consteval bool check_tensors() {
    constexpr ModelErrorKind kind = mistake.kind;
    using enum ModelErrorKind;
    static_assert(
        kind != shapes_do_not_broadcast,
        "totograph: two tensors of one operation have shapes that do not broadcast; extents must be equal or 1.");
    static_assert(kind != dtypes_differ, "totograph: the tensors of one operation have different dtypes; cast one.");
    static_assert(kind != dtype_is_not_taken,
                  "totograph: an operation does not compute in this dtype; cast before it, and back after it.");
    static_assert(
        kind != number_is_not_whole,
        "totograph: a number beside a tensor of i32 is a whole one, for it takes the tensor's dtype; cast the "
        "tensor before.");
    static_assert(
        kind != dtype_is_storage_only,
        "totograph: a graph computes in f32, f64 and i32; bf16 and f16 only store weights, as the forecaster's "
        "options say.");
    static_assert(
        kind != linear_weight_varies,
        "totograph: the weight of a linear layer must be made of weights and constants alone, for it is packed "
        "before the first run.");
    static_assert(
        kind != shape_is_not_usable,
        "totograph: a tensor has at most 6 axes (`max_rank`), at least one element along each, and at most 2^48 "
        "in all.");
    static_assert(kind != reshape_changes_size, "totograph: a reshape must keep the number of elements of the tensor.");
    static_assert(kind != axis_out_of_range, "totograph: an operation names an axis that the tensor does not have.");
    static_assert(
        kind != slice_out_of_range,
        "totograph: a slice takes at least one index, in steps of at least 1, and none beyond the end of its axis.");
    static_assert(
        kind != linear_shapes_differ,
        "totograph: a linear layer's weight must be [out_features, in_features] with the in_features of its input, "
        "and its bias [out_features].");
    return true;
}

/// The mistakes in blocks: attentions, embeddings, draws.
template <ModelError mistake>
consteval bool check_blocks() {
    constexpr ModelErrorKind kind = mistake.kind;
    using enum ModelErrorKind;
    static_assert(kind != block_width_differs,
                  "totograph: the last axis of a tensor is not as wide as the block takes it that was given it.");
    static_assert(kind != heads_do_not_divide,
                  "totograph: the embedding dimension must be divisible by the number of heads.");
    static_assert(
        kind != attention_shapes_differ,
        "totograph: queries, keys and values of an attention do not have the shapes that it needs, or are not f32.");
    static_assert(kind != kv_heads_do_not_divide,
                  "totograph: the heads of an attention must be a multiple of `kv_heads`, keys as wide as `kv_heads` "
                  "heads of the queries, and values divisible by `kv_heads`.");
    static_assert(kind != attention_scale_is_wrong,
                  "totograph: the scale of an attention is a finite number above 0, or else an f32 tensor with one "
                  "element, not both.");
    static_assert(kind != attention_mask_differs,
                  "totograph: a mask of an attention has i32 ids, one for each key; without a mask there are none.");
    static_assert(kind != odd_rotary_width, "totograph: a rotary embedding rotates pairs, so its width must be even.");
    static_assert(kind != sampled_shapes_differ,
                  "totograph: the parameters of a sampled mixture must have one shape, with one sample or as many as "
                  "are drawn; so must the logits of ids that are drawn.");
    static_assert(
        kind != moments_shapes_differ,
        "totograph: running moments are of whole groups of steps; the marks of what is observed have the shape "
        "of the values, and what is added up before has one number a row.");
    return true;
}

/// The mistakes in what holds nodes together: states, loops, recorders.
template <ModelError mistake>
consteval bool check_recording() {
    constexpr ModelErrorKind kind = mistake.kind;
    using enum ModelErrorKind;
    static_assert(kind != store_does_not_fit,
                  "totograph: a value stored into a state must have the state's shape except along the stored axis.");
    static_assert(kind != cache_overflows,
                  "totograph: a store writes beyond the capacity of its state; give the cache a larger capacity.");
    static_assert(kind != nothing_is_stored,
                  "totograph: a model stores what it computes into states (`Recorder::store`), from which it is read; "
                  "this one stores nothing.");
    static_assert(kind != state_has_no_name,
                  "totograph: a state is declared with an empty name; give it the name by which callers find it.");
    static_assert(kind != state_declared_twice,
                  "totograph: one state name is declared with two shapes, dtypes or bounds; use one declaration or two "
                  "names.");
    static_assert(kind != weight_name_lacks_its_layer,
                  "totograph: the name of a weight of a layer has `{}` where the number of the layer goes, and that of "
                  "no layer has none; in loops within loops, the number counts the layers of all.");
    static_assert(kind != bound_is_unknown,
                  "totograph: a bound is a number from 1 to the extent of the state that is declared with "
                  "StateUse::bounds. There is one such state, of i32.");
    static_assert(kind != position_is_not_an_integer_state,
                  "totograph: a position must be an i32 tensor with one element, or one for each series.");
    static_assert(kind != too_many_inputs, "totograph: an operation has more inputs than a node can hold.");
    static_assert(kind != loop_is_empty, "totograph: a loop has at least one iteration.");
    static_assert(kind != loop_changes_its_tensor,
                  "totograph: the body of a loop returns a tensor of the shape and the dtype that it was given.");
    static_assert(kind != tensor_left_its_loop,
                  "totograph: what the body of a loop records ends with the iteration, but for its result; return it, "
                  "or record it before the loop.");
    static_assert(kind != layer_left_its_loop,
                  "totograph: the layer that the body of a loop is given ends with the iteration; name weights and "
                  "states by it within the body.");
    static_assert(kind != input_count_differs,
                  "totograph: an operation has another number of inputs than its row of `op_table` says.");
    static_assert(kind != different_recorders, "totograph: the tensors of one operation come from two recorders.");
    static_assert(kind != tensor_is_missing,
                  "totograph: a tensor is used that was never recorded, such as a weight of a block that was made "
                  "without a name; make the block from a recorder and a name.");
    return true;
}

/// The most distinct kernels and states of a program.
inline constexpr std::size_t most_kernels = 128;
inline constexpr std::size_t most_states = 192;

/// How many rows tables have, or have room for.
struct TableRows {
    std::size_t nodes = 0;
    std::size_t kernels = 0;
    std::size_t steps = 0;
    std::size_t weights = 0;
    std::size_t states = 0;
    std::size_t buffers = 0;

    [[nodiscard]] constexpr TableRows or_more(const TableRows& other) const {
        return {std::max(nodes, other.nodes),     std::max(kernels, other.kernels), std::max(steps, other.steps),
                std::max(weights, other.weights), std::max(states, other.states),   std::max(buffers, other.buffers)};
    }
    [[nodiscard]] constexpr bool hold(const TableRows& other) const {
        return other.nodes <= nodes && other.kernels <= kernels && other.steps <= steps && other.weights <= weights &&
               other.states <= states && other.buffers <= buffers;
    }
};

/// What tables tell but for their rows.
struct TableTotals {
    TableRows rows;
    std::size_t arena_bytes = 0;
    Loops loops;
    ModelError error;
    int recorded_nodes = 0;  ///< Before rewriting, all iterations counted.
    /// What is to be recorded of loops: as it was, where the tables stand for all iterations.
    LoopChoices to_record = 0;
    bool is_too_large = false;
};

/// A model recorded, rewritten and planned, as tables.
/// @tparam choices  how much of its loops is recorded
/// @tparam room     of the tables; where they do not hold the plan, their rows are of no use, and their totals alone
/// count
template <class Model, Passes passes, bool planned, LoopChoices choices, TableRows room>
struct PlannedModel {
    struct Tables : TableTotals {
        std::array<Node, room.nodes> nodes{};
        std::array<Kernel, room.kernels> kernels{};
        std::array<Step, room.steps> steps{};
        std::array<PreparedWeight, room.weights> weights{};
        std::array<StateSlot, room.states> states{};
        std::array<Buffer, room.buffers> buffers{};
    };

    template <class From, class To>
    static constexpr std::size_t copy(const From& from, To& to) {
        const std::size_t count = from.size() < to.size() ? from.size() : to.size();
        for (std::size_t i = 0; i < count; ++i) {
            to[i] = from[i];
        }
        return from.size();
    }

    static constexpr int count_recorded(const Graph& graph) {
        int count = graph.size();
        for (const Node& node : graph.nodes) {
            for (const ShortLoop& loop : graph.loops) {
                count += node.iteration == loop.begin + 1 ? loop.count - loop.recorded : 0;
            }
        }
        return count;
    }

    static constexpr Tables tables = [] {
        Tables result{};
        const Graph recorded = totograph::record<Model>(choices);
        result.error = recorded.error;
        result.to_record = choices;
        if (recorded.error.kind != ModelErrorKind::none) {
            return result;
        }
        result.recorded_nodes = count_recorded(recorded);
        const Graph graph = rewrite(recorded, passes);
        const Plan plan = planned ? make_plan(graph, passes) : list_states(graph);
        const FoundLoops found = find_loops(graph, plan, choices);
        result.loops = found.loops;
        result.to_record = found.choices;
        result.is_too_large = plan.kernels.size() > most_kernels || plan.states.size() > most_states;
        result.rows.nodes = copy(graph.nodes, result.nodes);
        result.rows.kernels = copy(plan.kernels, result.kernels);
        result.rows.steps = copy(plan.steps, result.steps);
        result.rows.weights = copy(plan.weights, result.weights);
        result.rows.states = copy(plan.states, result.states);
        result.rows.buffers = copy(plan.buffers, result.buffers);
        result.arena_bytes = plan.arena_bytes;
        return result;
    }();
    /// Apart, for nvcc reads all of a constant where a part of it is asked for.
    static constexpr TableTotals totals = tables;
    static_assert(!totals.is_too_large,
                  "totograph: a model is too large for the planner's tables; raise the sizes in graph/program.hpp.");

    /// Whether the tables stand for all iterations of the model's loops, with all rows.
    static constexpr bool is_complete = totals.to_record == choices && room.hold(totals.rows);

    // What is in use of the tables; nothing of those that are made anew. Only this becomes part of a program that runs.
    static constexpr TableRows in_use = is_complete ? totals.rows : TableRows{};
    template <std::size_t count, class Item, std::size_t size>
    static constexpr std::array<Item, count> first(const std::array<Item, size>& table) {
        std::array<Item, count> items{};
        std::size_t next = 0;
        for (Item& item : items) {
            item = table[next++];
        }
        return items;
    }
    static constexpr auto nodes = first<in_use.nodes>(tables.nodes);
    static constexpr auto kernels = first<in_use.kernels>(tables.kernels);
    static constexpr auto steps = first<in_use.steps>(tables.steps);
    static constexpr auto weights = first<in_use.weights>(tables.weights);
    static constexpr auto states = first<in_use.states>(tables.states);
    static constexpr auto buffers = first<in_use.buffers>(tables.buffers);
};

#ifdef __CUDA_ARCH__
/// None: nvcc's compiler of device code takes 600 bytes and more for each number in a table, and plans twice, the first
/// time to count, in the time that it takes to copy tables with room to spare.
constexpr TableRows first_room(bool, bool) {
    return {};
}
#else
/// What models need, with some to spare: to plan twice, the first time to count, would take longer.
constexpr TableRows first_room(bool planned, bool fuses) {
    constexpr std::size_t nodes = 1024;
    const std::size_t steps = !planned ? 1 : fuses ? nodes / 4 + 64 : nodes;
    return {nodes, nodes / 12, steps, nodes / 4 + 64, nodes / 8, steps};
}
#endif

/// The tables that stand for all iterations of the model's loops, made with more of those, or with more room, where
/// they would not.
template <class Model, Passes passes, bool planned, LoopChoices choices,
          TableRows room = first_room(planned, passes.fuse_elementwise)>
struct ChosenTables {
    using Tables = PlannedModel<Model, passes, planned, choices, room>;
    static constexpr ModelError error = Tables::totals.error;
    static_assert(check_tensors<error>() && check_blocks<error>() && check_recording<error>());
    using type = typename std::conditional_t<
        Tables::totals.is_too_large || Tables::is_complete, std::type_identity<Tables>,
        ChosenTables<Model, passes, planned, Tables::totals.to_record, room.or_more(Tables::totals.rows)>>::type;
};

}  // namespace detail

/// A model as a planned program. Everything about it is a constant: it can be used in a `static_assert`.
///
/// @tparam ModelType a type with `static constexpr void record(Recorder&)` and, if it records operations of its own,
///                   `using operations = OperationSet<...>`.
/// @tparam planned   whether there are steps to run; an executor that runs the nodes themselves needs none, and a
///                   program without them is quicker to compile.
/// @tparam choices   how much of the model's loops (`repeat`) is recorded, at the least, so that the tables have one of
///                   their iterations for several
template <class ModelType, Passes chosen_passes = Passes{}, bool planned = true,
          LoopChoices choices = planned ? 0 : all_iterations>
struct Program {
    /// What was recorded.
    using Model = ModelType;
    /// Operations of the user that the model lists.
    using Operations = typename OperationsOf<Model>::type;
    /// The tables behind what follows.
    using Planned = typename detail::ChosenTables<Model, chosen_passes, planned, choices>::type;

    /// The rewrites that were done.
    static constexpr Passes passes = chosen_passes;
    /// The rewritten graph.
    static constexpr GraphView graph{Planned::nodes};
    /// The distinct kernels that `steps` call.
    static constexpr std::span<const Kernel> kernels{Planned::kernels};
    /// What one run does, in order; empty without a plan.
    static constexpr std::span<const Step> steps{Planned::steps};
    /// What is computed from the checkpoint before the first run.
    static constexpr std::span<const PreparedWeight> weights{Planned::weights};
    /// The buffers that outlive a run.
    static constexpr std::span<const StateSlot> states{Planned::states};
    /// The intermediates, with their places in the arena.
    static constexpr std::span<const Buffer> buffers{Planned::buffers};

    /// The loops of the model, of which all these tables have one iteration for several.
    static constexpr Loops loops = Planned::totals.loops;
    /// Nodes before rewriting, all iterations counted.
    static constexpr int recorded_nodes = Planned::totals.recorded_nodes;
    /// Bytes of the intermediates of one run.
    static constexpr std::size_t arena_bytes = Planned::totals.arena_bytes;
};

/// A program with all iterations of its loops written out, or with those of some.
template <class Program, LoopChoices choices = all_iterations>
struct WrittenOut;
template <class Model, Passes passes, bool planned, LoopChoices own, LoopChoices choices>
struct WrittenOut<Program<Model, passes, planned, own>, choices> {
    using type = Program<Model, passes, planned, own | choices>;
};

}  // namespace totograph
