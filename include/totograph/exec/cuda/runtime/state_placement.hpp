// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::cuda {

/// Where the states of programs lie on the device: first the inputs, so that they arrive in one copy; then all others.
/// An input is a state that no program writes, or that the first program reads before it writes it.
///
/// @tparam StateStorage  the `Bf16States` of the programs
template <class StateStorage, class First, class... Programs>
struct StatePlacement {
    using Layout = StateLayout<First, Programs...>;

private:
    using Flags = std::array<bool, Layout::count == 0 ? 1 : Layout::count>;

    struct Table {
        std::array<std::size_t, Layout::count == 0 ? 1 : Layout::count> offsets{};
        std::size_t input_bytes = 0;
        std::size_t bytes = 0;
        bool writes_inputs = false;
        bool writes_bounds = false;
    };

    /// Marks what the first program reads before it writes it.
    static constexpr void mark_read(Flags& read) {
        Flags written{};
        First::loops.for_each_step(First::steps.size(), [&](int index, LoopTurn turn) {
            const Step& step = First::steps[static_cast<std::size_t>(index)];
            const auto mark = [&](const Reference& reference) {
                for (const int state : {reference.space == Space::state ? reference.index : -1, reference.position}) {
                    if (state >= 0) {
                        const std::size_t place = Layout::template place_of<First>(state, turn);
                        read[place] = read[place] || !written[place];
                    }
                }
            };
            mark(step.input);
            for (const Reference& operand : step.operands) {
                mark(operand);
            }
            if (step.output.space == Space::state) {
                written[Layout::template place_of<First>(step.output.index, turn)] = true;
            }
        });
    }

    static constexpr Table table = [] {
        constexpr const Flags& written = Layout::written;
        Flags read{};
        mark_read(read);
        Table result{};
        for (std::size_t i = 0; i < Layout::count; ++i) {
            result.writes_inputs = result.writes_inputs || (written[i] && read[i]);
            result.writes_bounds =
                result.writes_bounds || (written[i] && Layout::entries[i].slot.use == StateUse::bounds);
        }
        for (const bool is_input : {true, false}) {
            for (std::size_t i = 0; i < Layout::count; ++i) {
                if ((!written[i] || read[i]) == is_input) {
                    result.offsets[i] = result.bytes;
                    result.bytes += StateStorage::bytes(i);
                }
            }
            result.input_bytes = is_input ? result.bytes : result.input_bytes;
        }
        return result;
    }();

public:
    /// Bytes of the inputs, which lie first.
    static constexpr std::size_t input_bytes = table.input_bytes;
    static constexpr std::size_t bytes = table.bytes;
    /// Whether a program writes what is an input as well: a copy of the inputs overwrites it.
    static constexpr bool writes_inputs = table.writes_inputs;
    /// Whether a program writes the state of bounds.
    static constexpr bool writes_bounds = table.writes_bounds;

    /// Bytes from the first to the last of the inputs that a program has.
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    template <class Program>
    static constexpr Range inputs_of = [] {
        Range range{table.input_bytes, 0};
        for (const std::size_t place : Layout::template places<Program>) {
            if (table.offsets[place] < table.input_bytes) {
                range.begin = std::min(range.begin, table.offsets[place]);
                range.end = std::max(range.end, table.offsets[place] + StateStorage::bytes(place));
            }
        }
        return range.begin < range.end ? range : Range{};
    }();

    /// The offset of an entry of the layout.
    static constexpr std::size_t offset(std::size_t entry) { return table.offsets[entry]; }

    /// The offset of a state of a program at a turn of its loops.
    template <class Program>
    static constexpr std::size_t offset_of(int state, LoopTurn turn) {
        return table.offsets[Layout::template place_of<Program>(state, turn)];
    }
};

}  // namespace totograph::cuda
