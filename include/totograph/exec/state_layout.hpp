// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/plan/tables.hpp>

namespace totograph {

/// Whether a graph stores into a state of this name that is of no layer.
template <class AnyGraph>
constexpr bool stores_into(const AnyGraph& graph, std::string_view name) {
    for (const Node& node : graph.nodes) {
        if (node.op != Op::store) {
            continue;
        }
        if (const Node& state = graph.input(node, 0); state.name == name && state.layer < 0) {
            return true;
        }
    }
    return false;
}

/// What is no model, but a program that was made of one.
template <class T>
concept HasStates = requires {
    T::states;
    T::loops;
};

/// Programs that share their states: a state of one name is one buffer for all of them.
template <class... Programs>
struct StateLayout {
    static_assert((HasStates<Programs> && ...),
                  "totograph: an executor runs planned programs, `Program<Model>`, and not the models themselves.");
    static constexpr std::size_t program_count = sizeof...(Programs);

    /// A state and its place in the memory that all programs share.
    struct Entry {
        StateSlot slot;
        std::size_t offset = 0;

        [[nodiscard]] constexpr std::size_t bytes() const {
            return aligned_size(static_cast<std::size_t>(slot.shape.size()) * size_in_bytes(slot.dtype));
        }
    };

private:
    /// States of a program, with those of all iterations of its loops.
    template <class Program>
    static constexpr int count_of = Program::loops.unrolled(&Loop::states, Program::states.size());

    template <class Program>
    static constexpr StateSlot state_of(int place) {
        const Loops::Place from = Program::loops.place(&Loop::states, place);
        StateSlot slot = Program::states[static_cast<std::size_t>(from.entry)];
        slot.layer = Program::loops.layer_of(Program::graph[slot.node], from.turn);
        slot.layer_step = 0;
        return slot;
    }

    struct Table {
        std::array<Entry, (static_cast<std::size_t>(count_of<Programs>) + ... + 0)> entries{};
        std::size_t count = 0;
        std::size_t bytes = 0;
        bool agrees = true;

        constexpr void insert(const StateSlot& slot) {
            for (std::size_t i = 0; i < count; ++i) {
                StateSlot& known = entries[i].slot;
                if (known.layer == slot.layer && known.name == slot.name) {
                    agrees = agrees && known.shape == slot.shape && known.dtype == slot.dtype;
                    known.use = slot.use == StateUse::any ? known.use : slot.use;
                    return;
                }
            }
            entries[count].slot = slot;
            entries[count].offset = bytes;
            bytes += entries[count].bytes();
            ++count;
        }
        [[nodiscard]] constexpr int count_of_bounds() const {
            int states = 0;
            for (std::size_t i = 0; i < count; ++i) {
                states += entries[i].slot.use == StateUse::bounds ? 1 : 0;
            }
            return states;
        }
        [[nodiscard]] constexpr std::size_t place_of(std::string_view name, int layer) const {
            std::size_t place = 0;
            while (place < count && !(entries[place].slot.layer == layer && entries[place].slot.name == name)) {
                ++place;
            }
            return place;
        }
    };

    static constexpr Table table = [] {
        Table result{};
        const auto insert_all = [&]<class Program>(std::type_identity<Program>) {
            for (int place = 0; place < count_of<Program>; ++place) {
                result.insert(state_of<Program>(place));
            }
        };
        (insert_all(std::type_identity<Programs>()), ...);
        return result;
    }();
    static_assert(
        table.agrees,
        "totograph: two programs that run together declare a state of one name with different shapes or dtypes.");
    static_assert(table.count_of_bounds() <= 1,
                  "totograph: two programs that run together have a state of bounds (StateUse::bounds) each; name one "
                  "state in both.");

public:
    static constexpr std::size_t count = table.count;
    /// Bytes of all states.
    static constexpr std::size_t bytes = table.bytes;
    /// Bytes of cached keys and values.
    static constexpr std::size_t cache_bytes = [] {
        std::size_t total = 0;
        for (std::size_t i = 0; i < table.count; ++i) {
            total += table.entries[i].slot.use == StateUse::kv_cache ? table.entries[i].bytes() : 0;
        }
        return total;
    }();
    static constexpr const auto& entries = table.entries;

    /// The place in `entries` of the state of a name; `count` without one. Unlike a pointer it is a constant for a
    /// compiler that checks pointers, too (g++ with -fsanitize=null).
    static constexpr std::size_t place_of(std::string_view name, int layer = -1) { return table.place_of(name, layer); }

    /// Whether there is a state of a name.
    static constexpr bool has(std::string_view name, int layer = -1) { return place_of(name, layer) < count; }

    /// Whether one of the programs stores into a state of this name.
    static constexpr bool is_stored(std::string_view name) { return (stores_into(Programs::graph, name) || ...); }

    /// The state of a name, or null.
    static constexpr const Entry* find(std::string_view name, int layer = -1) {
        const std::size_t place = place_of(name, layer);
        return place == count ? nullptr : &table.entries[place];
    }

    /// The place in `entries` of the state that says how much of each bounded axis is in use; `count` without one.
    static constexpr std::size_t bounds_place = [] {
        std::size_t place = 0;
        while (place < table.count && table.entries[place].slot.use != StateUse::bounds) {
            ++place;
        }
        return place;
    }();
    static constexpr bool has_bounds = bounds_place < count;

    /// For each state of a program, with those of all iterations of its loops, its place in `entries`.
    template <class Program>
    static constexpr auto places = [] {
        std::array<std::size_t, static_cast<std::size_t>(count_of<Program>)> result{};
        for (std::size_t i = 0; i < result.size(); ++i) {
            const StateSlot slot = state_of<Program>(static_cast<int>(i));
            result[i] = table.place_of(slot.name, slot.layer);
        }
        return result;
    }();

    /// The place in `entries` of a state of a program at a turn of its loops.
    template <class Program>
    static constexpr std::size_t place_of(int state, LoopTurn turn) {
        return places<Program>[static_cast<std::size_t>(Program::loops.at(&Loop::states, state, turn))];
    }

    /// For each state, whether a step of one of the programs writes it.
    static constexpr auto written = [] {
        std::array<bool, count == 0 ? 1 : count> result{};
        const auto mark = [&]<class Program>(std::type_identity<Program>) {
            Program::loops.for_each_step(Program::steps.size(), [&](int step, LoopTurn turn) {
                const Reference& output = Program::steps[static_cast<std::size_t>(step)].output;
                if (output.space == Space::state) {
                    result[place_of<Program>(output.index, turn)] = true;
                }
            });
        };
        (mark(std::type_identity<Programs>()), ...);
        return result;
    }();

    /// Bytes for intermediates of whichever program runs.
    static constexpr std::size_t arena_bytes = std::max({Programs::arena_bytes...});
};

}  // namespace totograph
