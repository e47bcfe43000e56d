// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/mode.hpp>

// What a service holds of a backend: a place for each bucket, a slot for each mode.
namespace totograph::serve::detail {

/// What serves a bucket in one mode.
struct Slot {
    std::unique_ptr<BucketForecaster> forecaster;
    ForecastCounters* counters = nullptr;  ///< From when a route could first reach it, or a fallback needed it.
    std::size_t bytes = 0;                 ///< That it was counted with.
    int served_eagerly = 0;                ///< Requests under `eager_then_capture` that it was not there for.

    /// Counts that the forecaster holds so many bytes from now on.
    void hold(std::size_t now) noexcept {
        counters->add_bytes_held(now);
        counters->subtract_bytes_held(std::exchange(bytes, now));
    }
    /// Whether there was anything to free.
    bool free() noexcept;
};

/// A bucket of a backend.
struct Place {
    std::array<Slot, all_modes.size()> of_modes{};
    bool is_warm = false;    ///< It was warmed up and not released since: it is to be ready in every mode that is set.
    bool was_built = false;  ///< In some mode that served, not for a fallback, and not released since.
    bool was_released = false;  ///< It was built once, and released, and not built since.

    void set_built() noexcept {
        was_built = true;
        was_released = false;
    }
    /// Why a request finds that it is not built.
    [[nodiscard]] RecaptureReason why_missing() const noexcept {
        return was_released ? RecaptureReason::released
               : was_built  ? RecaptureReason::mode_changed
                            : RecaptureReason::not_warmed_up;
    }

    [[nodiscard]] Slot& at(Mode mode) noexcept { return of_modes[static_cast<std::size_t>(mode)]; }
    [[nodiscard]] const Slot& at(Mode mode) const noexcept { return of_modes[static_cast<std::size_t>(mode)]; }
};

/// A backend that some route names.
struct ServedBackend {
    std::shared_ptr<const Backend> backend;
    std::string name;
    std::vector<Bucket> buckets;  ///< The cheapest first.
    std::vector<Place> places;    ///< For each bucket.

    explicit ServedBackend(std::shared_ptr<const Backend> served)
        : backend(std::move(served)), name(backend->name()), buckets(backend->buckets()), places(buckets.size()) {}
};

/// What a log and an error say of a bucket in a mode.
inline std::string describe(const ServedBackend& served, std::size_t which, Mode mode) {
    return "size " + to_string(served.buckets[which]) + " of " + io::in_quotes(served.name) + " in mode " +
           std::string(name(mode));
}

/// Throws `Error` (`invalid_argument`) that lists the modes of a backend when this is none of them.
void require_mode(const Backend& backend, Mode mode);

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/served_backend.hpp>
#endif
