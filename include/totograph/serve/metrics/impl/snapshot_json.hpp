// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/metrics/snapshot_json.hpp>

#include <cmath>
#include <cstddef>
#include <string>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>
#include <totograph/serve/metrics/json_parts.hpp>
#include <totograph/serve/metrics/latency_histogram.hpp>
#include <totograph/serve/metrics/online_accuracy.hpp>
#include <totograph/serve/metrics/snapshot.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {
namespace detail {

inline Json json_of(const LatencySummary& latency) {
    const auto known = [&](double seconds) { return latency.count > 0 ? Json(seconds) : Json(nullptr); };
    return {{"count", latency.count},
            {"sum_seconds", latency.sum_seconds},
            {"min_seconds", known(latency.min)},
            {"p50_seconds", known(latency.p50)},
            {"p90_seconds", known(latency.p90)},
            {"p99_seconds", known(latency.p99)},
            {"max_seconds", known(latency.max)}};
}

inline Json json_of(const Snapshot::Entry& entry) {
    Json recaptures;
    for (const RecaptureReason reason : all_recapture_reasons) {
        recaptures[std::string(name(reason))] = entry.recaptures[static_cast<std::size_t>(reason)];
    }
    return {{"backend", entry.backend},
            {"bucket", bucket_json(entry.bucket)},
            {"mode", std::string(name(entry.mode))},
            {"forecasts", entry.forecasts},
            {"not_finite", entry.not_finite},
            {"failures", entry.failures},
            {"builds", entry.builds},
            {"captures", entry.captures},
            {"replays", entry.replays},
            {"recaptures", recaptures},
            {"eager_fallbacks", entry.eager_fallbacks},
            {"graph_breaks", Snapshot::Entry::graph_breaks},
            {"build_seconds", entry.build_seconds},
            {"bytes_held", entry.bytes_held},
            {"latency", json_of(entry.latency())}};
}

inline Json json_of(const AccuracyEntry& entry) {
    const auto known = [](double value) { return std::isnan(value) ? Json(nullptr) : Json(value); };
    return {{"group", entry.group},      {"scored", entry.scored},    {"missed", entry.missed},
            {"window", entry.window},    {"banded", entry.banded},    {"mae", known(entry.mae)},
            {"rmse", known(entry.rmse)}, {"bias", known(entry.bias)}, {"coverage", known(entry.coverage)}};
}

}  // namespace detail

TOTOGRAPH_INLINE std::string json_text(const Snapshot& snapshot) {
    using detail::json_of;
    return detail::document_text(
        {{"since_seconds", snapshot.since_seconds},
         {"resets", snapshot.resets},
         {"requests_without_bucket", snapshot.requests_without_bucket},
         {"entries", detail::json_list(snapshot.entries, [](const Snapshot::Entry& entry) { return json_of(entry); })},
         {"caches", detail::json_list(snapshot.caches, [](const CacheCounts& cache) { return json_of(cache); })},
         {"accuracy",
          detail::json_list(snapshot.accuracy, [](const AccuracyEntry& entry) { return json_of(entry); })}});
}

}  // namespace totograph::serve
