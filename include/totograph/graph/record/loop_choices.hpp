// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace totograph {

/// How many iterations are recorded of each loop of a model: two bits a loop, in the order in which those begin that
/// are longer than the least that is recorded, and within none of which only a part is. A plain number, for it is part
/// of the names of programs. 0 is the least of each.
using LoopChoices = std::uint32_t;

/// All iterations of all loops.
inline constexpr LoopChoices all_iterations = ~LoopChoices{0};

namespace detail {

/// The choices: the first iteration, two that are compared, and the last; if these differ, more, so that intermediates
/// find their places, an even number and an odd one, for two of them may be taken as one; if those differ too, 0, which
/// is all of them.
inline constexpr std::array<int, 4> iterations_recorded{4, 8, 9, 0};
/// Of loops behind these, all iterations are recorded.
inline constexpr int most_loop_choices = 16;

/// How many iterations of a loop are recorded; 0 for all.
constexpr int iterations_of(LoopChoices choices, int loop) {
    return loop < most_loop_choices ? iterations_recorded[choices >> static_cast<unsigned>(2 * loop) & 3U] : 0;
}
/// The next choice for a loop.
constexpr LoopChoices with_more_of(LoopChoices choices, int loop) {
    return choices + (LoopChoices{1} << static_cast<unsigned>(2 * loop));
}
/// All iterations of a loop.
constexpr LoopChoices with_all_of(LoopChoices choices, int loop) {
    return choices | LoopChoices{3} << static_cast<unsigned>(2 * loop);
}

}  // namespace detail

}  // namespace totograph
