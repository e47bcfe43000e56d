// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <totograph/core/bucket.hpp>
#include <totograph/core/cache_counts.hpp>
#include <totograph/serve/forecast_counters.hpp>
#include <totograph/serve/latency_histogram.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/snapshot.hpp>

namespace totograph::serve {

namespace detail {

/// Keys in the order in which they are added.
using Json = nlohmann::ordered_json;

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

inline Json bucket_json(const Bucket& bucket) {
    return {{"batch", bucket.batch},     {"variates", bucket.variates}, {"context", bucket.context},
            {"horizon", bucket.horizon}, {"samples", bucket.samples},   {"exogenous", bucket.exogenous}};
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

inline Json json_of(const CacheCounts& cache) {
    return {{"name", cache.name},
            {"hits", cache.hits},
            {"misses", cache.misses},
            {"ignored", cache.ignored},
            {"last_reason", cache.last_reason}};
}

}  // namespace detail

/// A snapshot as a JSON object, UTF-8, its keys always in this order (bytes of names that are no UTF-8 are replaced):
///
/// - `since_seconds`, `resets`: of the `Snapshot`;
/// - `entries`: a list, by backend, bucket and mode, of objects with
///   - `backend`, `bucket` (an object: `batch`, `variates`, `context`, `horizon`, `samples`, `exogenous`), `mode`;
///   - `forecasts`, `failures`, `builds`, `captures`, `replays`;
///   - `recaptures`: an object with a count for each reason, `not_warmed_up`, `released`, `mode_changed`;
///   - `eager_fallbacks`, `graph_breaks` (always 0), `build_seconds`, `bytes_held`;
///   - `latency`: an object with `count`, `sum_seconds`, `min_seconds`, `p50_seconds`, `p90_seconds`, `p99_seconds`,
///     `max_seconds`; without forecasts, all but the first two are null;
/// - `caches`: a list of objects with `name`, `hits`, `misses`, `ignored`, `last_reason`.
///
/// What they mean, `ForecastCounts`, `LatencySummary` and `CacheCounts` tell.
inline std::string json_text(const Snapshot& snapshot) {
    detail::Json document{{"since_seconds", snapshot.since_seconds}, {"resets", snapshot.resets}};
    detail::Json entries = detail::Json::array();
    for (const Snapshot::Entry& entry : snapshot.entries) {
        entries.push_back(detail::json_of(entry));
    }
    document["entries"] = std::move(entries);
    detail::Json caches = detail::Json::array();
    for (const CacheCounts& cache : snapshot.caches) {
        caches.push_back(detail::json_of(cache));
    }
    document["caches"] = std::move(caches);
    constexpr int indent = 2;
    return document.dump(indent, ' ', false, detail::Json::error_handler_t::replace) + "\n";
}

}  // namespace totograph::serve
