// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/passes/fuse.hpp>
#include <totograph/graph/passes/location.hpp>

namespace totograph::detail {

/// Which stores need no step of their own: a store can be the output of the group that makes its value when nothing in
/// between looks at the state.
class FusedStores {
public:
    constexpr FusedStores(const Graph& graph, const Fusion& fusion, const List<Location>& locations,
                          const List<StoreEvent>& stores)
        : graph_(graph),
          nodes_(graph.nodes.data()),
          fusion_(fusion),
          locations_(locations),
          stores_(stores),
          store_of_(graph.nodes.size(), -1) {
        find_touches();
        find();
    }

    /// The store that the group with this root writes to; -1 for none.
    [[nodiscard]] constexpr int store_of(int root) const { return store_of_[static_cast<std::size_t>(root)]; }

    /// Whether a node is a store that a group does.
    [[nodiscard]] constexpr bool is_fused(int id) const {
        if (nodes_[id].op != Op::store) {
            return false;
        }
        int value = nodes_[id].inputs.items[1];
        if (store_of_[static_cast<std::size_t>(value)] == id) {
            return true;
        }
        return nodes_[value].op == Op::reshape &&
               store_of_[static_cast<std::size_t>(nodes_[value].inputs.items[0])] == id;
    }

private:
    /// A node that reads or writes a state.
    struct Touch {
        int state;
        int node;
        int runs_at;  ///< The root of its group, or itself.
    };

    constexpr void find_touches() {
        const int count = graph_.size();
        for (int id = 0; id < count; ++id) {
            const Node& node = nodes_[id];
            const int group = fusion_.group_of[static_cast<std::size_t>(id)];
            const int runs_at = group < 0 ? id : fusion_.groups[static_cast<std::size_t>(group)].root;
            for (int i = 0; i < node.input_count; ++i) {
                const int input = node.inputs.items[i];
                const Location& location = locations_[static_cast<std::size_t>(input)];
                for (const int read : {input, location.base, location.position}) {
                    if (read >= 0 && nodes_[read].op == Op::state) {
                        touches_.push_back({read, id, runs_at});
                    }
                }
            }
        }
    }

    constexpr void find() {
        for (const StoreEvent& event : stores_) {
            const Node& store = nodes_[event.node];
            if (store.input_count == 3 &&
                !(nodes_[store.inputs.items[2]].op == Op::state && nodes_[store.inputs.items[2]].shape.size() == 1)) {
                continue;
            }
            int value = store.inputs.items[1];
            while (nodes_[value].op == Op::reshape && fusion_.group_of[static_cast<std::size_t>(value)] < 0 &&
                   fusion_.consumer_count[static_cast<std::size_t>(value)] == 1 &&
                   splits_last_axis(nodes_[value].shape, nodes_[nodes_[value].inputs.items[0]].shape)) {
                value = nodes_[value].inputs.items[0];
            }
            const int group = fusion_.group_of[static_cast<std::size_t>(value)];
            const bool reshaped = value != store.inputs.items[1];
            const bool broadcasts = !stores_whole_extents(store);
            if (group < 0 || fusion_.groups[static_cast<std::size_t>(group)].root != value ||
                fusion_.consumer_count[static_cast<std::size_t>(value)] != 1 || broadcasts ||
                is_view(nodes_[value].op) ||  // a copy runs over its input's shape
                (reshaped && nodes_[store.inputs.items[1]].shape.rank + 1 != nodes_[value].shape.rank) ||
                is_touched_between(event.state, value, event.node) ||
                (store.input_count == 3 && written_between(stores_, store.inputs.items[2], value, event.node))) {
                continue;
            }
            store_of_[static_cast<std::size_t>(value)] = event.node;
        }
    }

    [[nodiscard]] constexpr bool stores_whole_extents(const Node& store) const {
        const Shape& state = nodes_[store.inputs.items[0]].shape;
        const Shape& value = nodes_[store.inputs.items[1]].shape;
        for (int axis = 0; axis < state.rank; ++axis) {
            if (axis != store.attributes.items[0] && value[axis] != state[axis]) {
                return false;
            }
        }
        return true;
    }

    /// Whether a node recorded before the store, but run with the group of `value` or after it, reads or writes the
    /// state.
    [[nodiscard]] constexpr bool is_touched_between(int state, int value, int store) const {
        for (const Touch& touch : touches_) {
            if (touch.state == state && touch.node < store && touch.runs_at >= value) {
                return true;
            }
        }
        return false;
    }

    const Graph& graph_;
    const Node* nodes_;
    const Fusion& fusion_;
    const List<Location>& locations_;
    const List<StoreEvent>& stores_;
    List<int> store_of_;  ///< By root.
    List<Touch> touches_;
};

}  // namespace totograph::detail
