// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <span>

#include <totograph/graph/graph.hpp>
#include <totograph/graph/loop.hpp>

namespace totograph {

/// Where a run is among the loops of its program: those before `loop` have ended, those behind it have not begun.
struct LoopTurn {
    int loop = 0;
    /// Of that loop, counted from the iteration that is written once. The iteration before it is -1: the written one
    /// can run in its place.
    int iteration = 0;
};

/// The loops of a program, in the order in which they run; none contains another one.
struct Loops {
    /// The most that a program has. Of further loops all iterations are written out.
    static constexpr int most = 8;

    std::array<Loop, most> all{};
    int count = 0;

    using Part = LoopPart Loop::*;

    /// An entry of a table, and when it runs.
    struct Place {
        int entry = 0;
        LoopTurn turn;
    };

    [[nodiscard]] constexpr std::span<const Loop> loops() const { return std::span(all).first(size()); }
    [[nodiscard]] constexpr const Loop& operator[](int loop) const { return all[static_cast<std::size_t>(loop)]; }

    /// The iteration of a loop at a turn: that of a loop that has ended is its last one.
    [[nodiscard]] constexpr int iteration_of(int loop, LoopTurn turn) const {
        assert(turn.iteration >= -1 && "there is no iteration before the one before the written one");
        return loop < turn.loop ? (*this)[loop].times - 1 : loop == turn.loop ? turn.iteration : 0;
    }

    /// What an entry is in the table with all iterations written out, for whoever reads it at a turn.
    [[nodiscard]] constexpr int at(Part part, int entry, LoopTurn turn) const {
        int result = entry;
        for (int loop = 0; loop < count && loop <= turn.loop; ++loop) {
            result += ((*this)[loop].*part).at(entry, iteration_of(loop, turn)) - entry;
        }
        return result;
    }

    /// Layers from the one that the tables have to that of a turn.
    /// @param node_loop   `Node::loop` of who has the layer
    /// @param layer_step  its `Node::layer_step`
    [[nodiscard]] constexpr int layers_since(int node_loop, int layer_step, LoopTurn turn) const {
        const int loop = node_loop - 1;
        return loop < 0 ? 0 : iteration_of(loop, turn) * (*this)[loop].period * layer_step;
    }
    /// The layer at a turn of a node or a state that an iteration of a loop has recorded.
    [[nodiscard]] constexpr int layer_of(const Node& node, LoopTurn turn) const {
        return node.layer + layers_since(node.loop, node.layer_step, turn);
    }

    /// How often an entry counts.
    [[nodiscard]] constexpr int times_of(Part part, int entry) const {
        int times = 1;
        for (const Loop& loop : loops()) {
            times = (loop.*part).has(entry) ? loop.times : times;
        }
        return times;
    }

    /// Entries of a table with all iterations written out.
    [[nodiscard]] constexpr int unrolled(Part part, std::size_t entries) const {
        auto result = static_cast<int>(entries);
        for (const Loop& loop : loops()) {
            result += (loop.times - 1) * (loop.*part).count;
        }
        return result;
    }

    /// When an entry runs for the first time: what follows a loop is of its last iteration.
    [[nodiscard]] constexpr LoopTurn first_turn_of(Part part, int entry) const {
        LoopTurn turn;
        while (turn.loop < count && entry >= end_of((*this)[turn.loop].*part)) {
            ++turn.loop;
        }
        return turn;
    }

    /// What stands at a place of the table with all iterations written out.
    [[nodiscard]] constexpr Place place(Part part, int unrolled_place) const {
        int entry = unrolled_place;
        for (int i = 0; i < count; ++i) {
            const Loop& loop = (*this)[i];
            const LoopPart& own = loop.*part;
            if (entry < end_of(own)) {
                return {entry, {i, 0}};
            }
            const int iteration = own.count == 0 ? loop.times : (entry - own.first) / own.count;
            if (iteration < loop.times) {
                return {entry - iteration * own.count, {i, iteration}};
            }
            entry -= (loop.times - 1) * own.count;
        }
        return {entry, {count, 0}};
    }

    /// The step that follows all that precede `step`: at the end of the written iteration of a loop, the first one of
    /// its next iteration, if there is one.
    [[nodiscard]] constexpr Place step_behind(int step, LoopTurn turn) const {
        if (turn.loop < count) {
            const Loop& loop = (*this)[turn.loop];
            if (step == end_of(loop.steps) && turn.iteration + 1 < loop.times) {
                return {loop.steps.first, {turn.loop, turn.iteration + 1}};
            }
        }
        return {step, turn};
    }

    /// Calls `visit(step, turn)` for each step of a run, in order.
    template <class Visit>
    constexpr void for_each_step(std::size_t steps, const Visit& visit) const {
        int step = 0;
        for (LoopTurn turn; turn.loop < count; ++turn.loop) {
            const Loop& loop = (*this)[turn.loop];
            const int end = end_of(loop.steps);
            for (turn.iteration = 0; turn.iteration < loop.times; ++turn.iteration) {
                for (step = turn.iteration == 0 ? step : loop.steps.first; step < end; ++step) {
                    visit(step, turn);
                }
            }
        }
        for (; step < static_cast<int>(steps); ++step) {
            visit(step, LoopTurn{count, 0});
        }
    }

private:
    [[nodiscard]] constexpr std::size_t size() const { return static_cast<std::size_t>(count); }
    static constexpr int end_of(const LoopPart& part) { return part.first + part.count; }
};

}  // namespace totograph
