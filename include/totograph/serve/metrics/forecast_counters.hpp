// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/serve/metrics/latency_histogram.hpp>

namespace totograph::serve {

/// Why a request that came after warm-up needed something that was not built.
enum class RecaptureReason : std::uint8_t {
    not_warmed_up,  ///< The bucket had never been built: the warm-up left it out.
    released,       ///< It had been released, and not been built since.
    mode_changed,   ///< It had been built, but not for the mode that serves it now.
};

/// All reasons for a recapture.
inline constexpr std::array all_recapture_reasons{RecaptureReason::not_warmed_up, RecaptureReason::released,
                                                  RecaptureReason::mode_changed};

/// The name of a reason, as it is spelled in C++.
constexpr std::string_view name(RecaptureReason reason) noexcept {
    switch (reason) {
        case RecaptureReason::not_warmed_up: return "not_warmed_up";
        case RecaptureReason::released: return "released";
        case RecaptureReason::mode_changed: return "mode_changed";
    }
    return "unknown";
}

/// What was counted for one backend, bucket and mode.
struct ForecastCounts {
    std::uint64_t forecasts = 0;   ///< That succeeded; as many as there are latencies.
    std::uint64_t not_finite = 0;  ///< Of these, with values that are no finite numbers (`Forecast::is_finite`).
    std::uint64_t failures = 0;    ///< Requests for this bucket that ended with an exception.
    std::uint64_t builds = 0;      ///< Forecasters made, at warm-up or later.
    std::uint64_t captures = 0;    ///< Graphs captured by them.
    std::uint64_t replays = 0;     ///< Captured graphs replayed.
    /// Requests after warm-up that needed what was not built, by `RecaptureReason`. The stance decides what followed: a
    /// build, an eager fallback or a failure, which is counted there as well.
    std::array<std::uint64_t, all_recapture_reasons.size()> recaptures{};
    std::uint64_t eager_fallbacks = 0;  ///< Requests that went to mode `eager` in place of this one.
    /// Times that a forecast returned to code which was not compiled. None, ever: a program is a constant of its type,
    /// recorded and planned by the compiler. It is a list of steps without a branch, an executor has no code for
    /// anything else, and what cannot be recorded does not compile.
    static constexpr std::uint64_t graph_breaks = 0;
    double build_seconds = 0;      ///< All builds together.
    std::uint64_t bytes_held = 0;  ///< By forecasters that live now, beside the weights.
    LatencyCounts latencies;       ///< Of the forecasts that succeeded.

    /// Those of all reasons together.
    [[nodiscard]] std::uint64_t all_recaptures() const noexcept;

    /// Whether a forecaster was made in this time, or lives, so that there can be latencies.
    [[nodiscard]] bool is_in_use() const noexcept { return builds > 0 || forecasts > 0 || bytes_held > 0; }
};

/// Counts what happens for one backend, bucket and mode. Any number of threads may use it: there are no locks, and
/// nothing is allocated but by `read` and `reset`.
class ForecastCounters {
public:
    /// A forecast that took so long, and replayed so many captured graphs; whether all its values are finite.
    void add_forecast(std::chrono::nanoseconds latency, Index replays = 0, bool is_finite = true) noexcept;
    /// A request that ended with an exception.
    void add_failure() noexcept { add(failures_, 1); }
    /// A forecaster was made, in so many seconds, and captured so many graphs.
    void add_build(double seconds, Index captures) noexcept {
        add(build_nanoseconds_, static_cast<std::uint64_t>(seconds * 1e9));
        add(captures_, static_cast<std::uint64_t>(captures));
        add(builds_, 1);
    }
    /// A request after warm-up needed what was not built. What came of it is counted beside this.
    void add_recapture(RecaptureReason reason) noexcept { add(recaptures_[static_cast<std::size_t>(reason)], 1); }
    /// A request went to mode `eager` in place of this one.
    void add_eager_fallback() noexcept { add(eager_fallbacks_, 1); }
    /// A forecaster holds so many bytes from now on; several services may add theirs.
    void add_bytes_held(std::size_t bytes) noexcept { add(bytes_held_, bytes); }
    /// It does not hold them any more.
    void subtract_bytes_held(std::size_t bytes) noexcept { bytes_held_.fetch_sub(bytes, std::memory_order_relaxed); }

    /// What was counted until now.
    [[nodiscard]] ForecastCounts read() const {
        return collect(*this, latencies_.read(),
                       [](const Count& count) { return count.load(std::memory_order_relaxed); });
    }

    /// Begins anew, but for the bytes that are held, and returns what was counted until now: each event is in the
    /// result of one reset.
    ForecastCounts reset() {
        return collect(*this, latencies_.reset(),
                       [](Count& count) { return count.exchange(0, std::memory_order_relaxed); });
    }

private:
    using Count = std::atomic<std::uint64_t>;

    static void add(Count& count, std::uint64_t more) noexcept { count.fetch_add(more, std::memory_order_relaxed); }

    template <class Counters, class Take>
    static ForecastCounts collect(Counters& counters, LatencyCounts latencies, const Take& take) {
        ForecastCounts counts;
        counts.forecasts = latencies.count();
        counts.not_finite = take(counters.not_finite_);
        counts.failures = take(counters.failures_);
        counts.builds = take(counters.builds_);
        counts.captures = take(counters.captures_);
        counts.replays = take(counters.replays_);
        for (std::size_t reason = 0; reason < counts.recaptures.size(); ++reason) {
            counts.recaptures[reason] = take(counters.recaptures_[reason]);
        }
        counts.eager_fallbacks = take(counters.eager_fallbacks_);
        counts.build_seconds = LatencyCounts::seconds_of(take(counters.build_nanoseconds_));
        counts.bytes_held = counters.bytes_held_.load(std::memory_order_relaxed);
        counts.latencies = std::move(latencies);
        return counts;
    }

    LatencyHistogram latencies_;
    Count replays_{0};
    Count not_finite_{0};
    Count failures_{0};
    Count builds_{0};
    Count captures_{0};
    std::array<Count, all_recapture_reasons.size()> recaptures_{};
    Count eager_fallbacks_{0};
    Count build_nanoseconds_{0};
    Count bytes_held_{0};
};

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/metrics/impl/forecast_counters.hpp>
#endif
