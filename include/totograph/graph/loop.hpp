// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace totograph {

/// The entries of a table of a program that belong to the iteration of a loop that is written once. The entries of
/// the iteration before it, as many, are right before them. Where there are none, `first` is where they would be.
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
    int number = 0;  ///< Which loop of the model it is, as `LoopChoices` counts them.
};

}  // namespace totograph
