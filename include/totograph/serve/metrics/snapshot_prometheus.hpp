// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>
#include <totograph/serve/metrics/latency_histogram.hpp>
#include <totograph/serve/metrics/snapshot.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

/// What to answer a Prometheus server as `Content-Type` with `prometheus_text`.
inline constexpr std::string_view prometheus_content_type = "text/plain; version=0.0.4; charset=utf-8";

namespace detail {

/// Writes families of samples.
class PrometheusText {
public:
    void begin(std::string_view family, std::string_view type, std::string_view help) {
        family_ = "totograph_" + std::string(family);
        text_ += "# HELP " + family_ + " " + std::string(help) + "\n# TYPE " + family_ + " " + std::string(type) + "\n";
    }
    void add(std::string_view labels, std::uint64_t value) { add("", labels, std::to_string(value)); }
    void add(std::string_view labels, double value) { add("", labels, number(value)); }

    /// A sample of the family; `suffix` follows its name.
    void add(std::string_view suffix, std::string_view labels, std::string_view value);

    [[nodiscard]] std::string take() { return std::move(text_); }

    /// The shortest decimal that reads back as the same number.
    static std::string number(double value) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        return {digits.data(), end};
    }

    static std::string label(std::string_view key, std::string_view value);

private:
    std::string family_;
    std::string text_;
};

inline std::string labels_of(const Snapshot::Entry& entry) {
    return PrometheusText::label("backend", entry.backend) + "," +
           PrometheusText::label("bucket", to_string(entry.bucket)) + "," +
           PrometheusText::label("mode", name(entry.mode));
}

/// Where the buckets of the written histogram end: two for each power of two from 66 us to 69 s. They are edges of
/// `LatencyBuckets`, so that their counts are exact.
template <class Write>
void for_each_written_edge(const Write& write) {
    constexpr std::size_t first = LatencyBuckets::index_of(std::uint64_t{1} << 16U);
    constexpr std::size_t last = LatencyBuckets::index_of(std::uint64_t{1} << 36U);
    for (std::size_t index = first; index <= last; index += LatencyBuckets::parts / 2) {
        write(index);
    }
}

void write_latencies(PrometheusText& text, const Snapshot& snapshot);

void write_events(PrometheusText& text, const Snapshot& snapshot);

inline void write_requests_without_bucket(PrometheusText& text, const Snapshot& snapshot) {
    text.begin("requests_without_bucket_total", "counter", "Requests that no bucket serves, which are errors.");
    text.add("", snapshot.requests_without_bucket);
}

void write_caches(PrometheusText& text, const Snapshot& snapshot);

void write_accuracy(PrometheusText& text, const Snapshot& snapshot);

}  // namespace detail

/// A snapshot in Prometheus' text exposition format, version 0.0.4. All names begin with `totograph_`; samples are
/// labelled with `backend`, `bucket` (as `to_string` writes it) and `mode`, those of caches with `cache`. Names of
/// backends have to be UTF-8.
///
/// - histogram `forecast_seconds`, exact at its edges, for rates and percentiles of any window;
/// - summary `forecast_latency_seconds` with label `quantile` (0, 0.5, 0.9, 0.99, 1: the shortest latency to the
///   longest), as in `LatencySummary`; without forecasts there are no quantiles. Histogram and summary, most of the
///   text, are left out of what was never built;
/// - counters `forecasts_total`, `forecasts_not_finite_total`, `forecast_failures_total`, `builds_total`,
/// `build_seconds_total`, `captures_total`,
///   `replays_total`, `eager_fallbacks_total`, `graph_breaks_total`, and `recaptures_total` with label `reason`;
///   without labels, `requests_without_bucket_total`;
/// - gauge `held_bytes`;
/// - counters `cache_hits_total`, `cache_misses_total`, `cache_files_ignored_total`;
/// - with label `group`, counters `accuracy_scored_total` and `accuracy_missed_total`, gauges `accuracy_window_steps`,
///   `accuracy_mae`, `accuracy_rmse`, `accuracy_bias`, `accuracy_coverage_ratio`; without scores of these gauges
///   `accuracy_window_steps` alone, 0;
/// - gauge `counted_seconds`: since the counts began or were reset.
std::string prometheus_text(const Snapshot& snapshot);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/metrics/impl/snapshot_prometheus.hpp>
#endif
