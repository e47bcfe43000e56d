// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace totograph {

/// The entries of a table of a program that belong to the iteration of its loop that is written once. The entries of
/// the iteration before it, as many, are right before them.
struct LoopPart {
    int first = 0;
    int count = 0;

    /// What an entry is in another iteration, counted from the written one: a place of the table with all iterations
    /// written out. What lies before the iteration before the written one is the same for all.
    [[nodiscard]] constexpr int at(int entry, int iteration) const {
        return entry < first - count ? entry : entry + iteration * count;
    }
    [[nodiscard]] constexpr bool has(int entry) const { return entry >= first && entry < first + count; }
};

/// A loop of a program. A few iterations at its begin and its end are entries of the tables as all else is; one of
/// those between is written once and runs `times` times.
struct Loop {
    int times = 1;
    int period = 1;  ///< Iterations of the model's loop that are one here: two where intermediates change places.
    LoopPart nodes{};
    LoopPart steps{};
    LoopPart weights{};
    LoopPart states{};
    LoopPart buffers{};

    /// An entry of a table, and the iteration that it is of.
    struct Place {
        int entry = 0;
        int iteration = 0;
    };

    /// How often an entry counts.
    [[nodiscard]] constexpr int times_of(const LoopPart& part, int entry) const { return part.has(entry) ? times : 1; }

    /// Entries of a table with all iterations written out.
    [[nodiscard]] constexpr int unrolled(const LoopPart& part, std::size_t entries) const {
        return static_cast<int>(entries) + (times - 1) * part.count;
    }

    /// What stands at a place of the table with all iterations written out. What follows the loop is of its last
    /// iteration.
    [[nodiscard]] constexpr Place place(const LoopPart& part, int unrolled_place) const {
        if (unrolled_place < part.first + part.count) {
            return {unrolled_place, 0};
        }
        const int iteration = part.count == 0 ? times - 1 : (unrolled_place - part.first) / part.count;
        return iteration < times ? Place{unrolled_place - iteration * part.count, iteration}
                                 : Place{unrolled_place - (times - 1) * part.count, times - 1};
    }

    /// The step that follows all that precede `step`: at the end of the written iteration, the first one of the next
    /// iteration, if there is one.
    [[nodiscard]] constexpr Place step_behind(int step, int iteration) const {
        const bool goes_on = step == steps.first + steps.count && iteration + 1 < times;
        return goes_on ? Place{steps.first, iteration + 1} : Place{step, iteration};
    }

    /// Calls `visit(step, iteration)` for each step of a run, in order.
    template <class Visit>
    constexpr void for_each_step(std::size_t count, const Visit& visit) const {
        const int end = steps.first + steps.count;
        for (int step = 0; step < end; ++step) {
            visit(step, 0);
        }
        for (int iteration = 1; iteration < times; ++iteration) {
            for (int step = steps.first; step < end; ++step) {
                visit(step, iteration);
            }
        }
        for (int step = end; step < static_cast<int>(count); ++step) {
            visit(step, times - 1);
        }
    }
};

}  // namespace totograph
