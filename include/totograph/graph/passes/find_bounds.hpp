// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/bounds.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>

namespace totograph {
namespace detail {

/// Finds how much of each node is read, from the effects back to the leaves. A bound is what the model declares of a
/// state or of a tensor (`Recorder::bound`); a node that nothing is declared of is bounded where all its readers are,
/// by one and the same bound. What an op has no rule for is read as a whole, which is always right.
class BoundFinder {
public:
    constexpr explicit BoundFinder(const Graph& graph) : graph_(graph), read_(graph.nodes.size(), unread()) {}

    constexpr List<AxisBounds> run() {
        for (int id = graph_.size() - 1; id >= 0; --id) {
            const Node& node = graph_[id];
            AxisBounds own = node.op == Op::store ? of_store(node) : read_[static_cast<std::size_t>(id)];
            for (int axis = 0; axis < max_rank; ++axis) {
                auto& bound = own[static_cast<std::size_t>(axis)];
                const auto declared = node.bounds[static_cast<std::size_t>(axis)];
                bound = declared > 0 && node.op != Op::store ? declared : bound;
                bound = bound == nobody || axis >= node.shape.rank || node.shape[axis] == 1 ? all : bound;
            }
            read_inputs(node, own);
            for (auto& bound : own) {
                bound = bound == below_a_length ? all : bound;
            }
            read_[static_cast<std::size_t>(id)] = own;
        }
        return static_cast<List<AxisBounds>&&>(read_);
    }

private:
    static constexpr std::int8_t all = 0;
    /// Only places that a length or a position names, which are data: whoever bounds the axis bounds these.
    static constexpr std::int8_t below_a_length = -1;
    static constexpr std::int8_t nobody = -2;

    static constexpr AxisBounds unread() {
        AxisBounds bounds{};
        bounds.fill(nobody);
        return bounds;
    }

    /// What a store reads of its value: what is read of the state, but for an axis along which it moves.
    constexpr AxisBounds of_store(const Node& store) const {
        const Node& state = graph_.input(store, 0);
        AxisBounds bounds = state.bounds;
        if (state.shape.rank > 0 && (store.input_count == 3 || store.attributes[1] != 0)) {
            bounds[static_cast<std::size_t>(store.attributes[0])] = all;
        }
        return bounds;
    }

    constexpr void read(const Node& reader, int which, const AxisBounds& how) {
        AxisBounds& known = read_[static_cast<std::size_t>(reader.inputs[static_cast<std::size_t>(which)])];
        for (std::size_t axis = 0; axis < known.size(); ++axis) {
            auto& bound = known[axis];
            if (bound == nobody || (bound == below_a_length && how[axis] > 0)) {
                bound = how[axis];
            } else if (bound != how[axis] && how[axis] != below_a_length) {
                bound = all;
            }
        }
    }

    constexpr const Shape& shape_of(const Node& reader, int which) const { return graph_.input(reader, which).shape; }

    /// The bounds of a result for an input that broadcasts to it.
    constexpr AxisBounds broadcast(const Node& node, int which, const AxisBounds& own) const {
        const Shape& from = shape_of(node, which);
        AxisBounds how{};
        for (int back = 1; back <= from.rank && back <= node.shape.rank; ++back) {
            if (from[from.rank - back] == node.shape[node.shape.rank - back]) {
                how[static_cast<std::size_t>(from.rank - back)] = own[static_cast<std::size_t>(node.shape.rank - back)];
            }
        }
        return how;
    }

    /// The bounds of the first `count` axes of a result for an input that has the same, or repeats there.
    constexpr AxisBounds leading(const Node& node, int which, const AxisBounds& own, int count) const {
        const Shape& from = shape_of(node, which);
        AxisBounds how{};
        for (int axis = 0; axis < count && axis < from.rank && axis < node.shape.rank; ++axis) {
            how[static_cast<std::size_t>(axis)] =
                from[axis] == node.shape[axis] ? own[static_cast<std::size_t>(axis)] : all;
        }
        return how;
    }

    /// Of a reshape: axes that stay keep their bounds.
    constexpr AxisBounds reshaped(const Node& node, const AxisBounds& own) const {
        const Shape& from = shape_of(node, 0);
        const Shape& to = node.shape;
        AxisBounds how{};
        int i = 0;
        int j = 0;
        while (i < from.rank && j < to.rank) {
            const int first_from = i;
            const int first_to = j;
            Index left = from[i++];
            Index right = to[j++];
            while (left != right) {
                if (left < right) {
                    left *= from[i++];
                } else {
                    right *= to[j++];
                }
            }
            const int only_from = only_axis(from, first_from, i);
            const int only_to = only_axis(to, first_to, j);
            const std::int8_t bound = only_to < 0 ? all : own[static_cast<std::size_t>(only_to)];
            for (int axis = first_from; axis < i; ++axis) {
                if (axis == only_from || bound == below_a_length) {
                    how[static_cast<std::size_t>(axis)] = bound;
                }
            }
        }
        return how;
    }

    /// The one axis of several that is longer than 1; -1 if there is none, or several are.
    static constexpr int only_axis(const Shape& shape, int first, int end) {
        int only = -1;
        for (int axis = first; axis < end; ++axis) {
            if (shape[axis] != 1) {
                if (only >= 0) {
                    return -1;
                }
                only = axis;
            }
        }
        return only;
    }

    constexpr AxisBounds permuted(const Node& node, const AxisBounds& own) const {
        AxisBounds how{};
        for (int axis = 0; axis < node.shape.rank; ++axis) {
            how[static_cast<std::size_t>(node.attributes[static_cast<std::size_t>(axis)])] =
                own[static_cast<std::size_t>(axis)];
        }
        return how;
    }

    constexpr void read_inputs(const Node& node, const AxisBounds& own) {
        for (int i = 0; i < node.input_count; ++i) {
            read(node, i, how_read(node, i, own));
        }
    }

    /// What an op reads of an input, of whose result `own` is read.
    constexpr AxisBounds how_read(const Node& node, int which, const AxisBounds& own) const {
        const auto axis = static_cast<std::size_t>(node.attributes[0]);
        const bool is_first = which == 0;
        AxisBounds how = own;
        switch (node.op) {
            case Op::reshape: return reshaped(node, own);
            case Op::permute: return permuted(node, own);
            case Op::slice:
                how[axis] = node.attributes[1] == 0 && node.attributes[2] == 1 ? own[axis] : all;
                return how;
            case Op::concatenate: how[axis] = is_first && own[axis] > 0 ? own[axis] : all; return how;
            case Op::take: how[axis] = below_a_length; return is_first ? how : AxisBounds{};
            case Op::embedding:
                return is_first ? AxisBounds{below_a_length} : leading(node, which, own, node.shape.rank - 1);
            case Op::sum:
            case Op::mean:
            case Op::softmax:
            case Op::argmax:
            case Op::sort: return leading(node, which, own, shape_of(node, 0).rank - 1);
            case Op::cumsum: return own;  // each sum is of what comes before it
            case Op::linear: return is_first ? leading(node, which, own, node.shape.rank - 1) : AxisBounds{};
            case Op::rotate_pairs: return leading(node, which, own, node.shape.rank - 1);
            case Op::sample_student_t_mixture:
            case Op::sample_categorical:  // of parameters, or of logits
                return shape_of(node, which).rank > 4 ? leading(node, which, own, 4) : AxisBounds{};
            case Op::attention: return attended(node, which, own);
            case Op::store: return which == 1 ? broadcast(node, which, own) : AxisBounds{};
            default: break;
        }
        return is_elementwise(node.op) || node.op == Op::expand ? broadcast(node, which, own) : AxisBounds{};
    }

    /// What an attention reads of an input.
    constexpr AxisBounds attended(const Node& node, int which, const AxisBounds& own) const {
        const AttentionDescription& attention = node.attention;
        if (which == 0) {
            return leading(node, which, own, 4);
        }
        if (!attention.is_key(which) && !attention.is_value(which)) {
            return {};
        }
        AxisBounds how = leading(node, which, own, 3);
        if (attention.axis == AttentionAxis::variates) {
            // Without a mask, a query sees what is beyond the bound.
            how[2] = attention.mask == KeyMask::none ? all : how[2];
            how[3] = own[3];
        } else {
            // A causal query sees keys up to its own; none sees keys from a length on, which is data.
            const bool sees_own_place =
                attention.is_causal && attention.queries == QueryPlaces::first && !attention.has_suffix;
            how[3] = sees_own_place && own[3] > 0 ? own[3] : below_a_length;
        }
        return how;
    }

    const Graph& graph_;
    List<AxisBounds> read_;
};

}  // namespace detail

/// Whether a graph declares any bounds.
constexpr bool has_bounds(const Graph& graph) {
    for (const Node& node : graph.nodes) {
        if (!(node.bounds == AxisBounds{})) {
            return true;
        }
    }
    return false;
}

/// For each node, along which axes it is only read below a bound. Empty for a graph without bounds.
constexpr List<AxisBounds> find_bounds(const Graph& graph) {
    if (!has_bounds(graph)) {
        return {};
    }
    return detail::BoundFinder(graph).run();
}

}  // namespace totograph
