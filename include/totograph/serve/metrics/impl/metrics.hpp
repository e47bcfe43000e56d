// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/metrics/metrics.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>
#include <totograph/serve/metrics/snapshot.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE ForecastCounters& Metrics::counters(std::string_view backend, const Bucket& bucket, Mode mode) {
    const std::scoped_lock lock(mutex_);
    for (const auto& slot : slots_) {
        if (slot->backend == backend && slot->bucket == bucket && slot->mode == mode) {
            return slot->counters;
        }
    }
    return slots_.emplace_back(std::make_unique<Slot>(backend, bucket, mode))->counters;
}

TOTOGRAPH_INLINE Snapshot Metrics::snapshot() const {
    const std::scoped_lock lock(mutex_);
    Snapshot now = collect(cache_counts().read(), [](const ForecastCounters& counters) { return counters.read(); });
    now.requests_without_bucket = requests_without_bucket_.load(std::memory_order_relaxed);
    return now;
}

TOTOGRAPH_INLINE Snapshot Metrics::reset() {
    const std::scoped_lock lock(mutex_);
    std::vector<CacheCounts> caches = cache_counts().read();
    Snapshot before = collect(caches, [](ForecastCounters& counters) { return counters.reset(); });
    before.requests_without_bucket = requests_without_bucket_.exchange(0, std::memory_order_relaxed);
    caches_before_ = std::move(caches);
    begin_ = Clock::now();
    ++resets_;
    return before;
}

}  // namespace totograph::serve
