// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/metrics/latency_histogram.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <totograph/core/inline.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE double LatencyCounts::percentile(double share) const noexcept {
    const std::uint64_t all = count();
    const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(all)));
    const std::uint64_t rank = std::clamp<std::uint64_t>(wanted, 1, std::max<std::uint64_t>(all, 1));
    std::uint64_t passed = 0;
    for (std::size_t index = 0; index < buckets.size(); ++index) {
        passed += buckets[index];
        if (passed >= rank) {
            // Within the extremes: in the last bucket, which has no middle, this is the longest one.
            const std::uint64_t lower = LatencyBuckets::lower_edge(index);
            const std::uint64_t middle = lower + (LatencyBuckets::upper_edge(index) - lower) / 2;
            return seconds_of(std::clamp(middle, min_nanoseconds, max_nanoseconds));
        }
    }
    return 0;
}

TOTOGRAPH_INLINE LatencySummary LatencyCounts::summary() const noexcept {
    return {
        count(),          seconds_of(sum_nanoseconds), seconds_of(min_nanoseconds), percentile(0.5), percentile(0.9),
        percentile(0.99), seconds_of(max_nanoseconds)};
}

TOTOGRAPH_INLINE void LatencyCounts::fit_extremes() noexcept {
    const auto counts_something = [](std::uint64_t bucket) { return bucket != 0; };
    const auto first = std::find_if(buckets.begin(), buckets.end(), counts_something);
    if (first == buckets.end()) {
        buckets.clear();
        min_nanoseconds = 0;
        max_nanoseconds = 0;
        return;
    }
    const auto last = std::find_if(buckets.rbegin(), buckets.rend(), counts_something);
    const auto lowest = static_cast<std::size_t>(first - buckets.begin());
    const auto highest = static_cast<std::size_t>(buckets.rend() - last) - 1;
    const bool is_crossed = min_nanoseconds > max_nanoseconds;
    if (is_crossed || LatencyBuckets::index_of(min_nanoseconds) != lowest) {
        min_nanoseconds = LatencyBuckets::lower_edge(lowest);
    }
    if (is_crossed || LatencyBuckets::index_of(max_nanoseconds) != highest) {
        const bool is_open = highest + 1 == LatencyBuckets::count;
        max_nanoseconds = is_open ? LatencyBuckets::lower_edge(highest) : LatencyBuckets::upper_edge(highest);
    }
}

TOTOGRAPH_INLINE std::uint64_t LatencyCounts::count_below(std::size_t end) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t index = 0; index < end; ++index) {
        sum += buckets[index];
    }
    return sum;
}

TOTOGRAPH_INLINE void LatencyHistogram::record(std::chrono::nanoseconds latency) noexcept {
    const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(latency.count(), 0));
    lower(min_, nanoseconds);
    raise(max_, nanoseconds);
    sum_.fetch_add(nanoseconds, std::memory_order_relaxed);
    // Last and released, so that who sees the count sees the extremes.
    buckets_[LatencyBuckets::index_of(nanoseconds)].fetch_add(1, std::memory_order_release);
}

}  // namespace totograph::serve
