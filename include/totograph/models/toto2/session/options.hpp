// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <totograph/core/shape.hpp>

namespace totograph::toto2 {

/// What is decided when a session is made.
struct SessionOptions {
    /// Patches of context that stay when there is no room for a further one; 0: three quarters of those that there is
    /// room for. With fewer, a window is computed again less often, and forecasts have a shorter context after it.
    Index kept_patches = 0;
};

/// What becomes of the newest steps that do not fill a patch yet.
enum class Pending : std::uint8_t {
    recompute,  ///< Patches are cut anew so that the newest step ends one, which computes the whole window again.
    leave_out,  ///< They wait: the forecast begins behind the newest whole patch, with steps that were appended
                ///< already.
};

/// What may differ from forecast to forecast of a session.
struct SessionForecastOptions {
    std::optional<Index> horizon{};  ///< Steps to forecast; the bucket's when absent.
    Pending pending = Pending::recompute;
};

/// Why the states of a context were not what could be continued, so that its window was computed again.
enum class Recomputation : std::uint8_t {
    capacity,          ///< There was no room for a new patch: the oldest ones were dropped.
    pending,           ///< Steps that did not fill a patch (`Pending::recompute`).
    few_observations,  ///< The scale of a variate that had few observations changed with new ones, for all its patches.
    many_patches,      ///< So many patches at once that the window takes no more work.
};
inline constexpr std::size_t recomputation_count = 4;

/// The reason in a few words.
constexpr std::string_view name(Recomputation reason) noexcept {
    switch (reason) {
        case Recomputation::capacity: return "there was no room for a new patch";
        case Recomputation::pending: return "the newest steps did not fill a patch";
        case Recomputation::few_observations: return "a variate has few observations";
        case Recomputation::many_patches: return "many patches were new";
    }
    return "unknown";
}

}  // namespace totograph::toto2
