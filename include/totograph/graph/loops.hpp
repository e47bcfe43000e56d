// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <totograph/graph/graph.hpp>
#include <totograph/graph/loop.hpp>

namespace totograph {

/// The loops of a program, in the order in which they run; none contains another one.
///
/// Where a run is, is one number: how many iterations have begun that the tables do not have, of all loops together.
struct Loops {
    /// The most that a program has. Of further loops all iterations are written out.
    static constexpr int most = 8;

    std::array<Loop, most> all{};
    int count = 0;

    using Part = LoopPart Loop::*;

    using Place = Loop::Place;

    [[nodiscard]] constexpr std::span<const Loop> loops() const { return std::span(all).first(size()); }

    /// What an entry is in the table with all iterations written out, for whoever reads it after so many iterations:
    /// from 0 on. (Only `Loop` of a program with one loop knows -1, the iteration before the written one.)
    [[nodiscard]] constexpr int at(Part part, int entry, int iteration) const {
        int result = entry;
        for (int i = 0; i < count && iteration > 0; ++i) {
            const Loop& loop = all[static_cast<std::size_t>(i)];
            const int own = iteration < loop.times ? iteration : loop.times - 1;
            result += (loop.*part).at(entry, own) - entry;
            iteration -= own;
        }
        return result;
    }

    /// What a layer is after so many iterations, of a node or a state that an iteration of a loop has recorded.
    [[nodiscard]] constexpr int layer_of(const Node& node, int iteration) const {
        for (int i = 0; i + 1 < node.loop; ++i) {
            iteration -= all[static_cast<std::size_t>(i)].times - 1;
        }
        if (node.loop == 0 || iteration <= 0) {
            return node.layer;
        }
        const Loop& loop = all[static_cast<std::size_t>(node.loop - 1)];
        const int own = iteration < loop.times ? iteration : loop.times - 1;
        return node.layer + own * loop.period * node.layer_step;
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

    /// What stands at a place of the table with all iterations written out. What follows a loop is of its last
    /// iteration.
    [[nodiscard]] constexpr Place place(Part part, int unrolled_place) const {
        int entry = unrolled_place;
        int iteration = 0;
        for (const Loop& loop : loops()) {
            const LoopPart& own = loop.*part;
            if (own.count > 0) {
                if (entry < own.first + own.count) {
                    break;
                }
                const int more = (entry - own.first) / own.count;
                if (more < loop.times) {
                    return {entry - more * own.count, iteration + more};
                }
                entry -= (loop.times - 1) * own.count;
            }
            iteration += loop.times - 1;
        }
        return {entry, iteration};
    }

    /// Calls `visit(step, iteration)` for each step of a run, in order.
    template <class Visit>
    constexpr void for_each_step(std::size_t steps, const Visit& visit) const {
        int step = 0;
        int iteration = 0;
        for (const Loop& loop : loops()) {
            const int end = loop.steps.first + loop.steps.count;
            for (; step < end; ++step) {
                visit(step, iteration);
            }
            for (int own = 1; own < loop.times; ++own) {
                ++iteration;
                for (int again = loop.steps.first; again < end; ++again) {
                    visit(again, iteration);
                }
            }
        }
        for (; step < static_cast<int>(steps); ++step) {
            visit(step, iteration);
        }
    }

private:
    [[nodiscard]] constexpr std::size_t size() const { return static_cast<std::size_t>(count); }
};

}  // namespace totograph
