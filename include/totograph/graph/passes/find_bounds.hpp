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
    constexpr explicit BoundFinder(const Graph& graph)
        : nodes_(graph.nodes.data()), read_(graph.nodes.size(), unread()), known_(read_.data()) {}
    BoundFinder(const BoundFinder&) = delete;
    BoundFinder& operator=(const BoundFinder&) = delete;
    constexpr ~BoundFinder() = default;

    constexpr List<AxisBounds> run() {
        for (int id = static_cast<int>(read_.size()) - 1; id >= 0; --id) {
            const Node& node = nodes_[id];
            AxisBounds& kept = known_[id];
            const AxisBounds own = own_of(node, kept);
            read_inputs(node, own);
            kept = own;
            for (std::int8_t& bound : kept.items) {
                bound = bound == below_a_length ? all : bound;
            }
        }
        return static_cast<List<AxisBounds>&&>(read_);
    }

private:
    static constexpr std::int8_t all = 0;
    /// Only places that a length or a position names, which are data: whoever bounds the axis bounds these.
    static constexpr std::int8_t below_a_length = -1;
    static constexpr std::int8_t nobody = -2;

    static constexpr AxisBounds unread() {
        static_assert(max_rank == 6);
        return {nobody, nobody, nobody, nobody, nobody, nobody};
    }

    /// What is read of a node: what is declared, else what its readers read.
    constexpr AxisBounds own_of(const Node& node, const AxisBounds& by_readers) const {
        AxisBounds own{};
        const AxisBounds bounds = node.op == Op::store ? of_store(node) : by_readers;
        // Pointers: a compiler takes long for each call, and this runs for each axis of each node.
        const std::int8_t* const known = bounds.items;
        const std::int8_t* const declared = node.bounds.items;
        const Index* const extents = node.shape.extents.items;
        std::int8_t* const to = own.items;
        for (int axis = 0; axis < node.shape.rank; ++axis) {
            if (extents[axis] != 1) {
                const std::int8_t bound = declared[axis] > 0 && node.op != Op::store ? declared[axis] : known[axis];
                to[axis] = bound == nobody ? all : bound;
            }
        }
        return own;
    }

    /// What a store reads of its value: what is read of the state, but for an axis along which it moves.
    constexpr AxisBounds of_store(const Node& store) const {
        const Node& state = nodes_[store.inputs.items[0]];
        AxisBounds bounds = state.bounds;
        if (state.shape.rank > 0 && (store.input_count == 3 || store.attributes.items[1] != 0)) {
            bounds[static_cast<std::size_t>(store.attributes.items[0])] = all;
        }
        return bounds;
    }

    constexpr void read(const Node& reader, int which, const AxisBounds& how) {
        std::int8_t* const known = known_[reader.inputs.items[which]].items;
        const std::int8_t* const now = how.items;
        for (int axis = 0; axis < max_rank; ++axis) {
            if (known[axis] == nobody || (known[axis] == below_a_length && now[axis] > 0)) {
                known[axis] = now[axis];
            } else if (known[axis] != now[axis] && now[axis] != below_a_length) {
                known[axis] = all;
            }
        }
    }

    constexpr const Shape& shape_of(const Node& reader, int which) const {
        return nodes_[reader.inputs.items[which]].shape;
    }

    /// The bounds of a result for an input that broadcasts to it.
    constexpr AxisBounds broadcast(const Node& node, int which, const AxisBounds& own) const {
        const Shape& from = shape_of(node, which);
        const int beyond = node.shape.rank - from.rank;  // of the input, axes that the result has in front
        const Index* const extents = node.shape.extents.items;
        const Index* const from_extents = from.extents.items;
        const std::int8_t* const bounds = own.items;
        AxisBounds how{};
        std::int8_t* const to = how.items;
        for (int axis = beyond < 0 ? -beyond : 0; axis < from.rank; ++axis) {
            if (from_extents[axis] == extents[axis + beyond]) {
                to[axis] = bounds[axis + beyond];
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
            how[static_cast<std::size_t>(node.attributes.items[axis])] = own[static_cast<std::size_t>(axis)];
        }
        return how;
    }

    constexpr void read_inputs(const Node& node, const AxisBounds& own) {
        // Of how most ops read an input, nothing is bounded where nothing of the result is.
        const bool is_whole =
            own == AxisBounds{} && node.op != Op::take && node.op != Op::embedding && node.op != Op::attention;
        const int* const inputs = node.inputs.items;
        for (int i = 0; i < node.input_count; ++i) {
            const Op from = nodes_[inputs[i]].op;
            if (from == Op::weight || from == Op::constant) {
                continue;  // no kernel makes it
            }
            if (is_whole) {
                known_[inputs[i]] = AxisBounds{};
            } else {
                read(node, i, how_read(node, i, own));
            }
        }
    }

    /// What an op reads of an input, of whose result `own` is read.
    constexpr AxisBounds how_read(const Node& node, int which, const AxisBounds& own) const {
        const auto axis = static_cast<std::size_t>(node.attributes.items[0]);
        const bool is_first = which == 0;
        AxisBounds how = own;
        switch (node.op) {
            case Op::reshape: return reshaped(node, own);
            case Op::permute: return permuted(node, own);
            case Op::slice:
                how[axis] = node.attributes.items[1] == 0 && node.attributes.items[2] == 1 ? own[axis] : all;
                return how;
            // A part that begins behind others is read up to less than that.
            case Op::concatenate: how[axis] = own[axis] > 0 ? own[axis] : all; return how;
            case Op::take: how[axis] = below_a_length; return is_first ? how : AxisBounds{};
            case Op::embedding:
                return is_first ? AxisBounds{below_a_length} : leading(node, which, own, node.shape.rank - 1);
            case Op::sum:
            case Op::mean:
            case Op::amax:
            case Op::softmax:
            case Op::argmax:
            case Op::sort: return leading(node, which, own, shape_of(node, 0).rank - 1);
            case Op::cumsum: return own;  // each sum is of what comes before it
            case Op::running_moments: return leading(node, which, own, node.shape.rank - 2);
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

    const Node* nodes_;
    List<AxisBounds> read_;
    AxisBounds* known_;  ///< Its elements: a subscript would be a call.
};

}  // namespace detail

/// Whether a graph declares any bounds.
constexpr bool has_bounds(const Graph& graph) {
    for (const Node& node : graph.nodes) {
        const std::int8_t* const bounds = node.bounds.items;
        for (int axis = 0; axis < node.shape.rank; ++axis) {
            if (bounds[axis] != 0) {
                return true;
            }
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
