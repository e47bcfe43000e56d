// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/metrics/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {
namespace detail {

TOTOGRAPH_INLINE LatencyCounts difference(LatencyCounts later, const LatencyCounts& earlier) {
    const std::size_t common = std::min(later.buckets.size(), earlier.buckets.size());
    for (std::size_t index = 0; index < common; ++index) {
        subtract_count(later.buckets[index], earlier.buckets[index]);
    }
    subtract_count(later.sum_nanoseconds, earlier.sum_nanoseconds);
    later.fit_extremes();
    return later;
}

TOTOGRAPH_INLINE void subtract(ForecastCounts& later, const ForecastCounts& earlier) {
    subtract_count(later.forecasts, earlier.forecasts);
    subtract_count(later.not_finite, earlier.not_finite);
    subtract_count(later.failures, earlier.failures);
    subtract_count(later.builds, earlier.builds);
    subtract_count(later.captures, earlier.captures);
    subtract_count(later.replays, earlier.replays);
    for (std::size_t reason = 0; reason < later.recaptures.size(); ++reason) {
        subtract_count(later.recaptures[reason], earlier.recaptures[reason]);
    }
    subtract_count(later.eager_fallbacks, earlier.eager_fallbacks);
    subtract_count(later.build_seconds, earlier.build_seconds);
    later.latencies = difference(std::move(later.latencies), earlier.latencies);
}

TOTOGRAPH_INLINE void subtract(std::vector<CacheCounts>& later, const std::vector<CacheCounts>& earlier) {
    for (CacheCounts& cache : later) {
        for (const CacheCounts& before : earlier) {
            if (before.name == cache.name) {
                subtract_count(cache.hits, before.hits);
                subtract_count(cache.misses, before.misses);
                subtract_count(cache.ignored, before.ignored);
            }
        }
        if (cache.ignored == 0) {
            cache.last_reason.clear();
        }
    }
}

}  // namespace detail

TOTOGRAPH_INLINE Snapshot difference(Snapshot later, const Snapshot& earlier) {
    if (later.resets != earlier.resets) {
        return later;
    }
    for (Snapshot::Entry& entry : later.entries) {
        const auto before = std::find_if(earlier.entries.begin(), earlier.entries.end(), [&](const auto& candidate) {
            return detail::key_of(candidate) == detail::key_of(entry);
        });
        if (before != earlier.entries.end()) {
            detail::subtract(entry, *before);
        }
    }
    detail::subtract_count(later.requests_without_bucket, earlier.requests_without_bucket);
    detail::subtract(later.caches, earlier.caches);
    detail::subtract_count(later.since_seconds, earlier.since_seconds);
    return later;
}

}  // namespace totograph::serve
