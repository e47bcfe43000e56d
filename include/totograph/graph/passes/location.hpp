// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>
#include <totograph/graph/passes/rewrite.hpp>

namespace totograph::detail {

/// Where the elements of a node are: in the buffer of `base`, from `offset`, with these strides for the node's axes.
struct Location {
    int base = -1;
    Index offset = 0;
    Strides strides{};
    int position = -1;  ///< A node that holds one i32 to be multiplied by `position_stride`, or -1.
    Index position_stride = 0;
    Index last_position = 0;
    Index capacity = 0;    ///< The extent of the axis of `position`.
    bool is_view = false;  ///< The node has no buffer of its own.
};

/// The strides of a reshaped tensor without moving elements; false when elements would have to move.
constexpr bool reshape_strides(const Shape& from, const Strides& strides, const Shape& to, Strides& result) {
    int old_axis = 0;
    int new_axis = 0;
    while (new_axis < to.rank || old_axis < from.rank) {
        const int old_begin = old_axis;
        const int new_begin = new_axis;
        Index old_size = 1;
        Index new_size = 1;
        // The smallest groups of axes of equal size on both sides; a trailing extent of 1 belongs to the group.
        do {
            if (old_size <= new_size && old_axis < from.rank) {
                old_size *= from[old_axis++];
            } else if (new_axis < to.rank) {
                new_size *= to[new_axis++];
            } else {
                return false;
            }
        } while (old_size != new_size);
        while (old_axis < from.rank && from[old_axis] == 1) {
            ++old_axis;
        }
        while (new_axis < to.rank && to[new_axis] == 1) {
            ++new_axis;
        }
        Index inner = 0;
        bool first = true;
        for (int axis = old_axis - 1; axis >= old_begin; --axis) {
            if (from[axis] == 1) {
                continue;
            }
            const Index stride = strides.items[axis];
            if (first) {
                inner = stride;
                first = false;
            } else {
                Index expected = inner;
                for (int behind = axis + 1; behind < old_axis; ++behind) {
                    expected *= from[behind];
                }
                if (stride != expected) {
                    return false;
                }
            }
        }
        for (int axis = new_axis - 1; axis >= new_begin; --axis) {
            result[static_cast<std::size_t>(axis)] = inner;
            inner *= to[axis];
        }
    }
    return true;
}

/// A store in the order of the graph.
struct StoreEvent {
    int node;
    int state;
};

constexpr List<StoreEvent> find_stores(const Graph& graph) {
    List<StoreEvent> stores;
    const int count = graph.size();
    const Node* const nodes = graph.nodes.data();
    for (int id = 0; id < count; ++id) {
        if (nodes[id].op == Op::store) {
            stores.push_back({id, nodes[id].inputs.items[0]});
        }
    }
    return stores;
}

/// Whether `state` is written by a node strictly between two others.
constexpr bool written_between(const List<StoreEvent>& stores, int state, int after, int before) {
    for (const StoreEvent& event : stores) {
        if (event.state == state && event.node > after && event.node < before) {
            return true;
        }
    }
    return false;
}

/// The last node that reads each node, through views too.
constexpr List<int> find_last_uses(const Graph& graph) {
    List<int> result(graph.nodes.size(), -1);
    int* const last = result.data();
    const Node* const nodes = graph.nodes.data();
    for (int id = graph.size() - 1; id >= 0; --id) {
        const Node& node = nodes[id];
        const bool shows_input = last[id] > id && (is_view(node.op) || node.op == Op::take);
        const int use = shows_input ? last[id] : id;
        for (int i = 0; i < node.input_count; ++i) {
            int& known = last[node.inputs.items[i]];
            known = known < use ? use : known;
        }
    }
    return result;
}

/// Whether the last axis is contiguous and the rows before it lie at one distance, which is not 0.
constexpr bool has_even_rows(const Shape& shape, const Strides& strides) {
    if (shape.rank > 0 && shape[-1] != 1 && strides.items[shape.rank - 1] != 1) {
        return false;
    }
    Index expected = -1;
    for (int axis = shape.rank - 2; axis >= 0; --axis) {
        if (shape[axis] == 1) {
            continue;
        }
        const Index stride = strides.items[axis];
        if (stride == 0 || (expected >= 0 && stride != expected)) {
            return false;
        }
        expected = stride * shape[axis];
    }
    return true;
}

/// Where consumers find each node (`seen`), and where the views among the nodes look (`source`). The two differ where a
/// view cannot stay one and a kernel copies it. A source with `is_view` has strides for the node's axes, another one
/// for those of its input.
struct Locations {
    List<Location> seen;
    List<Location> source;
};

static_assert(count_ops(OpClass::view) == 4, "totograph: `look_through` has no case for an op that is a view.");

/// Turns the location of a view's input into that of the view, but for what stores forbid. Returns whether that can be
/// told by strides.
constexpr bool look_through(const Node& node, const Shape& from, Location& view) {
    if (node.op == Op::reshape) {
        Strides strides{};
        const bool possible = reshape_strides(from, view.strides, node.shape, strides);
        view.strides = strides;
        return possible;
    }
    if (node.op == Op::slice) {
        auto& stride = view.strides.items[node.attributes.items[0]];
        view.offset += node.attributes.items[1] * stride;
        stride *= node.attributes.items[2];
    } else if (node.op == Op::permute) {
        const Strides before = view.strides;
        for (int axis = 0; axis < node.shape.rank; ++axis) {
            view.strides.items[axis] = before[static_cast<std::size_t>(node.attributes.items[axis])];
        }
    } else if (node.op == Op::expand) {
        Strides strides{};
        for (int back = 1; back <= from.rank; ++back) {
            if (from[from.rank - back] != 1) {
                strides.items[node.shape.rank - back] = view.strides.items[from.rank - back];
            }
        }
        view.strides = strides;
    }
    return true;
}

/// The same of a `take`, whose position must be a state of one element that keeps its value up to the last use.
constexpr bool look_at_position(const Graph& graph, int take, const Shape& from, const List<StoreEvent>& stores,
                                int last_use, Location& view) {
    const Node& node = graph[take];
    const Node& position = graph[node.inputs.items[1]];
    const bool possible = position.op == Op::state && position.shape.size() == 1 && view.position < 0 &&
                          !written_between(stores, node.inputs.items[1], take, last_use);
    view.position = node.inputs.items[1];
    view.position_stride = view.strides.items[node.attributes.items[0]];
    view.capacity = from[static_cast<int>(node.attributes.items[0])];
    view.last_position = view.capacity - 1;
    return possible;
}

/// Lets GEMMs read no view whose rows lie unevenly, or are one and the same.
constexpr void copy_uneven_rows(const Graph& graph, const List<char>& weight_expression, List<Location>& locations) {
    const int count = graph.size();
    const Node* const nodes = graph.nodes.data();
    for (int id = 0; id < count; ++id) {
        if (nodes[id].op != Op::linear || weight_expression[static_cast<std::size_t>(id)]) {
            continue;
        }
        const int x = nodes[id].inputs.items[0];
        Location& location = locations[static_cast<std::size_t>(x)];
        if (location.is_view && !has_even_rows(nodes[x].shape, location.strides)) {
            location = Location{};
            location.base = x;
            location.strides = contiguous_strides(nodes[x].shape);
        }
    }
}

/// The location of every node that does not belong to the weights; `is_view` tells which need no kernel.
constexpr Locations find_locations(const Graph& graph, const List<char>& weight_expression,
                                   const List<StoreEvent>& stores) {
    const List<int> last_use = find_last_uses(graph);
    Locations found{List<Location>(graph.nodes.size()), List<Location>(graph.nodes.size())};
    Location* const locations = found.seen.data();
    const int count = graph.size();
    const Node* const nodes = graph.nodes.data();
    for (int id = 0; id < count; ++id) {
        const Node& node = nodes[id];
        const auto place = static_cast<std::size_t>(id);
        Location& here = locations[id];
        here.base = id;
        here.strides = contiguous_strides(node.shape);
        const bool may_view = is_view(node.op) || node.op == Op::take;
        if (!may_view || weight_expression[place]) {
            continue;
        }
        const int source = node.inputs.items[0];
        const Shape& from = nodes[source].shape;
        Location view = locations[source];
        view.is_view = true;
        bool possible = node.op == Op::take ? look_at_position(graph, id, from, stores, last_use[place], view)
                                            : look_through(node, from, view);
        // A reshape that must move elements reads them in the order of its input.
        Location& looks_at = found.source[place];
        looks_at = possible ? view : locations[source];
        looks_at.is_view = possible;
        // What was read before a store must not change with it.
        possible =
            possible && !(nodes[view.base].op == Op::state && written_between(stores, view.base, id, last_use[place]));
        if (possible) {
            here = view;
        }
    }
    copy_uneven_rows(graph, weight_expression, found.seen);
    return found;
}

/// Strides for the axes of `shape` of a tensor that broadcasts to it.
constexpr Strides broadcast_strides(const Shape& from, const Strides& strides, const Shape& shape) {
    Strides result{};
    for (int back = 1; back <= from.rank; ++back) {
        if (from[from.rank - back] != 1) {
            result[static_cast<std::size_t>(shape.rank - back)] = strides.items[from.rank - back];
        }
    }
    return result;
}

}  // namespace totograph::detail
