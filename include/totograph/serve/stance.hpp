// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace totograph::serve {

/// What a service does when a request needs something that has not been built, once it is ready: a *recapture*.
/// Mode `eager` captures nothing: building it is never a recapture.
enum class Stance : std::uint8_t {
    standard,            ///< `default`: builds it, and counts a recapture.
    force_eager,         ///< Serves every request in mode `eager`.
    fail_on_recapture,   ///< Throws `Error` (`recapture`) and builds nothing.
    eager_on_recapture,  ///< Serves the request in mode `eager` and builds nothing else.
    /// Serves requests in mode `eager`, before a warm-up as well, until what they need is built: in the background,
    /// when so many came (`ServiceOptions::capture_after`).
    eager_then_capture,
};

/// The name of a stance.
constexpr std::string_view name(Stance stance) noexcept {
    switch (stance) {
        case Stance::standard: return "default";
        case Stance::force_eager: return "force_eager";
        case Stance::fail_on_recapture: return "fail_on_recapture";
        case Stance::eager_on_recapture: return "eager_on_recapture";
        case Stance::eager_then_capture: return "eager_then_capture";
    }
    return "unknown";
}

namespace detail {

inline thread_local Stance stance_of_thread = Stance::standard;

}  // namespace detail

/// The stance that this thread's requests are served with.
inline Stance current_stance() noexcept {
    return detail::stance_of_thread;
}

/// Takes a stance for this thread until the end of a scope; scopes nest.
class ScopedStance {
public:
    explicit ScopedStance(Stance stance) noexcept : before_(detail::stance_of_thread) {
        detail::stance_of_thread = stance;
    }
    ScopedStance(const ScopedStance&) = delete;
    ScopedStance& operator=(const ScopedStance&) = delete;
    ~ScopedStance() { detail::stance_of_thread = before_; }

private:
    Stance before_;
};

}  // namespace totograph::serve
