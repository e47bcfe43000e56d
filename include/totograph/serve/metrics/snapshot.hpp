// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <totograph/core/cache_counts.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>
#include <totograph/serve/metrics/online_accuracy.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

/// All counts of a moment: plain values, to print, to keep, and to subtract. `snapshot_json.hpp` and
/// `snapshot_prometheus.hpp` write them.
struct Snapshot {
    /// What was counted for one backend, bucket and mode.
    struct Entry : ForecastCounts {
        std::string backend;
        Bucket bucket;
        Mode mode = Mode::eager;

        /// Latencies in brief.
        [[nodiscard]] LatencySummary latency() const noexcept { return latencies.summary(); }
    };

    /// By backend, then bucket, then mode: their order does not change. Also of what a service can need and has not
    /// used yet: all 0.
    std::vector<Entry> entries;
    std::uint64_t requests_without_bucket = 0;  ///< That no bucket holds: errors that no entry counts.
    std::vector<CacheCounts> caches;            ///< Of this process, in the order in which they were first used.
    std::vector<AccuracyEntry> accuracy;        ///< By group, over its window, which resets do not empty.
    double since_seconds = 0;                   ///< How long it was counted.
    std::uint64_t resets = 0;                   ///< How often the counts were reset before.
};

namespace detail {

/// What entries are ordered by, and told apart.
inline auto key_of(const Snapshot::Entry& entry) {
    const Bucket& bucket = entry.bucket;
    return std::tuple(std::string_view(entry.backend), bucket.batch, bucket.variates, bucket.context, bucket.horizon,
                      bucket.samples, bucket.exogenous, entry.mode);
}

/// What a count grew by; 0 when it did not grow, as of snapshots that are given the wrong way round.
template <class Count>
void subtract_count(Count& later, const Count& earlier) {
    later = later > earlier ? later - earlier : Count{};
}

/// Latencies that were recorded between two moments.
LatencyCounts difference(LatencyCounts later, const LatencyCounts& earlier);

void subtract(ForecastCounts& later, const ForecastCounts& earlier);

void subtract(std::vector<CacheCounts>& later, const std::vector<CacheCounts>& earlier);

}  // namespace detail

/// What was counted between two snapshots of the same `Metrics`: counts and latencies are subtracted, so that a monitor
/// has rates and percentiles of a window; `bytes_held` and `accuracy` are the later ones, and so is a cache's last
/// reason where a file was ignored in between. The shortest and the longest latency of a window are known to within one
/// of the `LatencyBuckets`. When the counts were reset between the two, this is what was counted since.
Snapshot difference(Snapshot later, const Snapshot& earlier);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/metrics/impl/snapshot.hpp>
#endif
