// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/plan/tables.hpp>
#include <totograph/graph/unroll.hpp>

// Positions and lengths that are data: where a store begins, what is taken, how many keys a query sees. Whoever uses
// one moves it inside its bounds, so that nothing else is read or written, and reports it.
//
// With TOTOGRAPH_CHECKED defined, in all files of a program, it ends where the first one is used.

namespace totograph {

#ifdef TOTOGRAPH_CHECKED
inline constexpr bool is_checked_build = true;
#else
inline constexpr bool is_checked_build = false;
#endif

namespace detail {

/// Ends a checked build; another one goes on.
inline void stop_checked_build([[maybe_unused]] const std::string& why) {
    if constexpr (is_checked_build) {
        std::fprintf(stderr, "totograph: %s\n", why.c_str());
        std::abort();
    }
}

}  // namespace detail

/// The first position of a run that was out of bounds.
struct PositionFault {
    int step = -1;  ///< Of the program; -1 for none.
    Index position = 0;
    Index last = -1;  ///< The largest one that was possible; -1 where it is not known.

    /// Notes a fault, unless there is one. In a checked build, ends the program.
    void note(int at_step, Index at_position, Index at_most) {
        if constexpr (is_checked_build) {
            detail::stop_checked_build("Step " + std::to_string(at_step) + " uses position " +
                                       std::to_string(at_position) + ", which is out of bounds.");
        }
        if (step < 0) {
            step = at_step;
            position = at_position;
            last = at_most;
        }
    }
};

/// A position moved to the nearest one from 0 to `last`.
constexpr Index bounded_position(Index position, Index last) noexcept {
    return position < 0 ? 0 : position > last ? last : position;
}

/// The error for a position, or a length, that is none of those from 0 to `last`, of what has this name.
Error position_error(std::string_view name, int layer, Index position, Index last, Index capacity);

namespace detail {

/// The operands of an attention that tell how many keys and values there are, and those keys.
struct CountedKeys {
    std::size_t length;
    std::size_t keys;
};

/// Those of one attention whose lengths are checked.
std::span<const CountedKeys> keys_counted_by(const AttentionDescription& attention);

/// The error for what a step of a planned program, counted with all iterations written out, used a position for.
Error position_error(const ProgramTables& tables, const PositionFault& fault);
template <class Program>
Error position_error(const PositionFault& fault) {
    return position_error(tables_of<Program>(), fault);
}

}  // namespace detail
}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/impl/position_error.hpp>
#endif
