// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <totograph/core/array.hpp>
#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>

namespace totograph {

/// Which passes run between recording and planning. All of them keep the result, to rounding.
struct Passes {
    bool merge_equal_nodes = true;  ///< Nodes that compute the same thing are computed once.
    bool fold_scales = true;        ///< linear(x * scale) with a weight for a scale: the scale goes into the weights.
    bool defer_row_scales = true;   ///< linear(x * r) with one r for each row becomes linear(x) * r, an epilogue.
    bool compose_linears = true;    ///< linear after linear becomes one, where that is less work.
    bool fuse_elementwise = true;   ///< Elementwise chains become one kernel, or the epilogue of a GEMM.

    friend constexpr bool operator==(const Passes&, const Passes&) = default;

    /// Nothing but the removal of dead nodes: the program as recorded.
    static constexpr Passes none() { return {false, false, false, false, false}; }
};

namespace detail {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    return (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 29U);
}

constexpr std::uint64_t hash_of(const Node& node) {
    const Index* const extents = node.shape.extents.items;
    const int rank = node.shape.rank;
    std::uint64_t hash = static_cast<std::uint64_t>(node.op) + 64 * static_cast<std::uint64_t>(node.dtype);
    for (int i = 0; i < node.input_count; ++i) {
        hash = hash * 0x100000001B3ULL + static_cast<std::uint64_t>(node.inputs.items[i]);
    }
    hash = mix(hash, static_cast<std::uint64_t>(node.attributes.items[0] + 64 * node.attributes.items[1]));
    hash = mix(hash, static_cast<std::uint64_t>(node.layer + 1) + node.name.size());
    return mix(hash, static_cast<std::uint64_t>(rank < 2 ? rank : extents[rank - 1] + 4096 * extents[rank - 2]));
}

/// Copies a graph node by node; a pass decides what to emit in place of a node. What is emitted twice is kept once,
/// unless it reads a state, for a store may come in between.
class Rewriter {
public:
    constexpr Rewriter(const Graph& source, bool merge_equal) : nodes_(source.nodes.data()), merge_equal_(merge_equal) {
        const std::size_t expected = source.nodes.size() + source.nodes.size() / 4;
        place_.assign(source.nodes.size(), -1);
        result.nodes.reserve(expected);
        notes_.reserve(expected);
        if (merge_equal) {
            newest_.assign(buckets, -1);
        }
        result.error = source.error;
        result.loops = source.loops;
    }

    /// Emits a node of the source with its inputs renumbered to the new graph.
    constexpr int emit_translated(int id) {
        result.nodes.push_back(nodes_[id]);
        Node& node = result.nodes.back();
        const int* const places = place_.data();
        for (int i = 0; i < node.input_count; ++i) {
            int& input = node.inputs.items[i];
            input = places[input];
        }
        return keep_or_merge();
    }

    constexpr int emit_node(Op op, DType dtype, const Shape& shape, std::initializer_list<int> inputs) {
        Node node;
        node.op = op;
        node.dtype = dtype;
        node.shape = shape;
        node.iteration = iteration_;
        for (const int input : inputs) {
            node.inputs[static_cast<std::size_t>(node.input_count++)] = input;
        }
        result.nodes.push_back(node);
        return keep_or_merge();
    }

    /// The iteration of the loop that what is emitted next is recorded for.
    constexpr void set_iteration(int iteration) { iteration_ = iteration; }

    [[nodiscard]] constexpr int place(int old_id) const { return place_[static_cast<std::size_t>(old_id)]; }
    constexpr void set_place(int old_id, int new_id) { place_[static_cast<std::size_t>(old_id)] = new_id; }
    [[nodiscard]] constexpr bool is_weight_expression(int id) const {
        return notes_[static_cast<std::size_t>(id)].is_weight_expression;
    }

    /// Whether a reader that was recorded as node `reader` can read `id` now instead: not when it shows a state, for
    /// there was a store since.
    [[nodiscard]] constexpr bool can_read_now(int id, int reader) const {
        return !notes_[static_cast<std::size_t>(id)].shows_state ||
               notes_[static_cast<std::size_t>(reader)].stores_before == stores_;
    }

    Graph result;

private:
    static constexpr std::size_t buckets = 512;

    /// What is known of a node of the new graph.
    struct Note {
        bool is_weight_expression = false;
        bool shows_state = false;
        int stores_before = 0;
        int older = -1;  ///< The node before it in its bucket.
    };

    constexpr int keep_or_merge() {
        const Node* const nodes = result.nodes.data();
        const int id = result.size() - 1;
        const Node& node = nodes[id];
        const Note* const notes = notes_.data();
        const bool effect = !is_pure(node.op);
        Note note{.is_weight_expression = !effect, .stores_before = stores_};
        bool reads_state = effect;
        for (int i = 0; i < node.input_count; ++i) {
            const Note& input = notes[node.inputs.items[i]];
            note.is_weight_expression = note.is_weight_expression && input.is_weight_expression;
            reads_state = reads_state || input.shows_state;
        }
        if (merge_equal_ && !reads_state) {
            int& newest = newest_[static_cast<std::size_t>(hash_of(node) % buckets)];
            for (int twin = newest; twin >= 0; twin = notes[twin].older) {
                if (nodes[twin].op == node.op && nodes[twin] == node) {
                    result.nodes.pop_back();
                    return twin;
                }
            }
            note.older = newest;
            newest = id;
        }
        note.shows_state = node.op == Op::state || (reads_state && is_view(node.op));
        stores_ += node.op == Op::store ? 1 : 0;
        notes_.push_back(note);
        return id;
    }

    const Node* nodes_;  ///< Of the source.
    bool merge_equal_;
    List<int> place_;
    List<int> newest_;  ///< By bucket of equal hashes.
    List<Note> notes_;  ///< By node of the new graph.
    int stores_ = 0;
    int iteration_ = -1;
};

/// What a linear reads while factors of its input are moved away from it.
struct LinearOperands {
    int x = -1;
    int weight = -1;
    Array<int, 4> row_scales{};  ///< Factors, one a row, by which the result is multiplied instead.
    std::size_t row_scale_count = 0;
};

/// Moves a factor of the input into the weight, or behind the linear; false when the input has none to move.
constexpr bool move_factor(Rewriter& rewriter, Passes passes, LinearOperands& operands) {
    const int x = operands.x;
    const Node input = rewriter.result[x];
    if (input.op != Op::multiply) {
        return false;
    }
    for (std::size_t side = 0; side < 2; ++side) {
        const int factor = input.inputs[side];
        const int rest = input.inputs[1 - side];
        const Shape factor_shape = rewriter.result[factor].shape;
        if (!(rewriter.result[rest].shape == input.shape) || factor_shape.rank == 0 ||
            !rewriter.can_read_now(rest, x) || !rewriter.can_read_now(factor, x)) {
            continue;
        }
        if (passes.fold_scales && rewriter.is_weight_expression(factor) && factor_shape.rows() == 1 &&
            factor_shape[-1] == input.shape[-1]) {
            const Shape weight_shape = rewriter.result[operands.weight].shape;
            const int row = rewriter.emit_node(Op::reshape, DType::f32, Shape{factor_shape[-1]}, {factor});
            operands.weight = rewriter.emit_node(Op::multiply, DType::f32, weight_shape, {operands.weight, row});
            operands.x = rest;
            return true;
        }
        if (passes.defer_row_scales && factor_shape.rank == input.shape.rank && factor_shape[-1] == 1 &&
            input.shape[-1] != 1 && operands.row_scale_count < operands.row_scales.size()) {
            operands.row_scales[operands.row_scale_count++] = factor;
            operands.x = rest;
            return true;
        }
    }
    return false;
}

/// linear(x, weight) with the rewrites that `passes` asks for; ids are of the rewriter's new graph.
constexpr int emit_linear(Rewriter& rewriter, Passes passes, int x, int weight, const Shape& shape) {
    LinearOperands operands{.x = x, .weight = weight};
    while (move_factor(rewriter, passes, operands)) {
    }
    int result = rewriter.emit_node(Op::linear, DType::f32, shape, {operands.x, operands.weight});
    while (operands.row_scale_count > 0) {
        const int factor = operands.row_scales[--operands.row_scale_count];
        result = rewriter.emit_node(Op::multiply, DType::f32, shape, {result, factor});
    }
    return result;
}

/// Whether a reshape divides the last axis into two and leaves the others.
constexpr bool splits_last_axis(const Shape& from, const Shape& to) {
    if (from.rank == 0 || to.rank != from.rank + 1) {
        return false;
    }
    for (int axis = 0; axis + 1 < from.rank; ++axis) {
        if (from[axis] != to[axis]) {
            return false;
        }
    }
    return true;
}

/// Two linear layers in a row, with or without a bias after the first and a split of its columns between them.
struct ComposablePair {
    bool found = false;
    int x = -1;       ///< Input of the first.
    int weight = -1;  ///< Of the first, `[parts * inner, k]`.
    int bias = -1;    ///< Of the first, `[parts * inner]`, or -1.
    Index parts = 1;  ///< How many groups of columns the second layer is applied to.
};

constexpr ComposablePair find_composable(const Rewriter& rewriter, int input, int second_weight) {
    ComposablePair pair;
    const Graph& graph = rewriter.result;
    int at = input;
    if (graph[at].op == Op::reshape) {
        const Node& split = graph[at];
        const Shape& whole = graph.input(split, 0).shape;
        if (!splits_last_axis(whole, split.shape)) {
            return pair;
        }
        pair.parts = split.shape[-2];
        at = split.inputs.items[0];
    }
    if (graph[at].op == Op::add && rewriter.is_weight_expression(graph[at].inputs.items[1])) {
        pair.bias = graph[at].inputs.items[1];
        at = graph[at].inputs.items[0];
    }
    if (graph[at].op != Op::linear || !rewriter.is_weight_expression(graph[at].inputs.items[1]) ||
        !rewriter.can_read_now(graph[at].inputs.items[0], at)) {
        return pair;
    }
    pair.x = graph[at].inputs.items[0];
    pair.weight = graph[at].inputs.items[1];
    const Index k = graph[pair.weight].shape[1];
    const Index inner = graph[second_weight].shape[1];
    const Index outer = graph[second_weight].shape[0];
    const Index columns = pair.parts * inner;
    const bool bias_fits = pair.bias < 0 || graph[pair.bias].shape == Shape{columns};
    const bool fills_columns = graph[pair.weight].shape[0] == columns;  // not one column that the bias spreads
    pair.found = bias_fits && fills_columns && outer * k < inner * k + outer * inner;
    return pair;
}

constexpr int emit_composed(Rewriter& rewriter, Passes passes, const ComposablePair& pair, int second_weight,
                            const Shape& shape) {
    const Shape second = rewriter.result[second_weight].shape;
    const Index outer = second[0];
    const Index inner = second[1];
    const Index k = rewriter.result[pair.weight].shape[1];
    const Index columns = pair.parts * outer;
    const int first = rewriter.emit_node(Op::reshape, DType::f32, Shape{pair.parts, inner, k}, {pair.weight});
    const int composed =
        rewriter.emit_node(Op::matmul, DType::f32, Shape{pair.parts, outer, k}, {second_weight, first});
    const int weight = rewriter.emit_node(Op::reshape, DType::f32, Shape{columns, k}, {composed});
    const Shape flat = with_axis(rewriter.result[pair.x].shape, -1, columns);
    int result = emit_linear(rewriter, passes, pair.x, weight, flat);
    if (pair.bias >= 0) {
        const int rows = rewriter.emit_node(Op::reshape, DType::f32, Shape{pair.parts, inner, 1}, {pair.bias});
        const int bias = rewriter.emit_node(Op::matmul, DType::f32, Shape{pair.parts, outer, 1}, {second_weight, rows});
        const int row = rewriter.emit_node(Op::reshape, DType::f32, Shape{columns}, {bias});
        result = rewriter.emit_node(Op::add, DType::f32, flat, {result, row});
    }
    return shape == flat ? result : rewriter.emit_node(Op::reshape, DType::f32, shape, {result});
}

/// For each node, whether it is an effect, or one depends on it. States stay: the caller may write to one that is never
/// read.
constexpr List<char> find_live_nodes(const Graph& graph) {
    List<char> live(graph.nodes.size(), 0);
    char* const is_live = live.data();
    const Node* const nodes = graph.nodes.data();
    for (int id = graph.size() - 1; id >= 0; --id) {
        const Node& node = nodes[id];
        is_live[id] = is_live[id] != 0 || !is_pure(node.op) ? 1 : 0;
        for (int i = 0; is_live[id] != 0 && i < node.input_count; ++i) {
            is_live[node.inputs.items[i]] = 1;
        }
    }
    return live;
}

}  // namespace detail

/// Keeps only nodes that an effect depends on.
constexpr Graph remove_dead_nodes(const Graph& graph) {
    const List<char> live = detail::find_live_nodes(graph);
    const char* const is_live = live.data();
    const int count = graph.size();
    const Node* const nodes = graph.nodes.data();
    List<int> places(graph.nodes.size(), -1);
    int* const place = places.data();
    Graph result;
    result.error = graph.error;
    result.loops = graph.loops;
    result.nodes.reserve(graph.nodes.size());
    int kept = 0;
    for (int id = 0; id < count; ++id) {
        if (is_live[id] != 0) {
            Node node = nodes[id];
            for (int i = 0; i < node.input_count; ++i) {
                node.inputs.items[i] = place[node.inputs.items[i]];
            }
            place[id] = kept++;
            result.nodes.push_back(node);
        }
    }
    return result;
}

/// Runs the passes: merges equal nodes, moves scales out of the inputs of GEMMs, composes GEMMs (see `Passes`),
/// and drops what is not needed any more.
constexpr Graph rewrite(const Graph& recorded, Passes passes) {
    detail::Rewriter rewriter(recorded, passes.merge_equal_nodes);
    const int count = recorded.size();
    const Node* const nodes = recorded.nodes.data();
    for (int id = 0; id < count; ++id) {
        const Node& node = nodes[id];
        int result = -1;
        rewriter.set_iteration(node.iteration);
        if (node.op == Op::linear && rewriter.is_weight_expression(rewriter.place(node.inputs.items[1]))) {
            const int x = rewriter.place(node.inputs.items[0]);
            const int weight = rewriter.place(node.inputs.items[1]);
            const int before = rewriter.result.size();
            const auto pair =
                passes.compose_linears ? detail::find_composable(rewriter, x, weight) : detail::ComposablePair{};
            result = pair.found ? detail::emit_composed(rewriter, passes, pair, weight, node.shape)
                                : detail::emit_linear(rewriter, passes, x, weight, node.shape);
            if (result >= before && result == rewriter.result.size() - 1) {  // no node that others read, too
                rewriter.result[result].bounds = node.bounds;
            }
        } else {
            result = rewriter.emit_translated(id);
        }
        rewriter.set_place(id, result);
    }
    return remove_dead_nodes(rewriter.result);
}

}  // namespace totograph
