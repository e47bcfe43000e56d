// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/cache_counts.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>
#include <totograph/serve/metrics/online_accuracy.hpp>
#include <totograph/serve/metrics/snapshot.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

/// The counters of a program, or of a part of it. Any number of threads and services may share one: those that serve
/// the same backend, bucket and mode count together.
class Metrics {
public:
    explicit Metrics(const AccuracyOptions& accuracy = {}) : accuracy_(accuracy) {}
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;
    ~Metrics() = default;

    /// The counters of a backend, bucket and mode, made at the first call. They stay where they are as long as this
    /// lives. Takes a lock and may allocate: call it when something is set up or built, not in a forecast. Counters
    /// that are made before there is anything to count are seen at 0 first, as who watches them grow needs it.
    ForecastCounters& counters(std::string_view backend, const Bucket& bucket, Mode mode);

    /// A request came that no bucket serves, so that it belongs to no `ForecastCounters`. Takes no lock.
    void add_request_without_bucket() noexcept { requests_without_bucket_.fetch_add(1, std::memory_order_relaxed); }

    /// Scores forecasts when observations come; its figures are in each snapshot.
    [[nodiscard]] OnlineAccuracy& accuracy() noexcept { return accuracy_; }

    /// What was counted until now, by caches since the program began. Forecasts go on meanwhile.
    [[nodiscard]] Snapshot snapshot() const;

    /// Begins anew, and returns what was counted until now: each event is in the result of one reset. Bytes that are
    /// held stay. Caches count for the whole process, so that their counters go on, and only this forgets what they
    /// counted before.
    Snapshot reset();

private:
    using Clock = std::chrono::steady_clock;

    struct Slot {
        Slot(std::string_view its_backend, const Bucket& its_bucket, Mode its_mode)
            : backend(its_backend), bucket(its_bucket), mode(its_mode) {}

        std::string backend;
        Bucket bucket;
        Mode mode;
        ForecastCounters counters;
    };

    template <class Read>
    Snapshot collect(std::vector<CacheCounts> caches, const Read& read) const {
        Snapshot snapshot;
        snapshot.entries.reserve(slots_.size());
        for (const auto& slot : slots_) {
            snapshot.entries.push_back({read(slot->counters), slot->backend, slot->bucket, slot->mode});
        }
        std::sort(snapshot.entries.begin(), snapshot.entries.end(),
                  [](const auto& a, const auto& b) { return detail::key_of(a) < detail::key_of(b); });
        snapshot.caches = std::move(caches);
        detail::subtract(snapshot.caches, caches_before_);
        snapshot.accuracy = accuracy_.read();
        snapshot.since_seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
        snapshot.resets = resets_;
        return snapshot;
    }

    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<CacheCounts> caches_before_;
    Clock::time_point begin_ = Clock::now();
    std::uint64_t resets_ = 0;
    OnlineAccuracy accuracy_;
    std::atomic<std::uint64_t> requests_without_bucket_{0};
};

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/metrics/impl/metrics.hpp>
#endif
