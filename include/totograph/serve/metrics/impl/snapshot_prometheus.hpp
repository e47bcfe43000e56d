// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/metrics/snapshot_prometheus.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>
#include <totograph/serve/metrics/latency_histogram.hpp>
#include <totograph/serve/metrics/online_accuracy.hpp>
#include <totograph/serve/metrics/snapshot.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {
namespace detail {

TOTOGRAPH_INLINE void PrometheusText::add(std::string_view suffix, std::string_view labels, std::string_view value) {
    text_ += family_;
    text_ += suffix;
    if (!labels.empty()) {
        text_ += '{';
        text_ += labels;
        text_ += '}';
    }
    text_ += ' ';
    text_ += value;
    text_ += '\n';
}

TOTOGRAPH_INLINE std::string PrometheusText::label(std::string_view key, std::string_view value) {
    std::string text = std::string(key) + "=\"";
    for (const char character : value) {
        switch (character) {
            case '\\': text += "\\\\"; break;
            case '"': text += "\\\""; break;
            case '\n': text += "\\n"; break;
            default: text += character;
        }
    }
    return text + '"';
}

TOTOGRAPH_INLINE void write_latencies(PrometheusText& text, const Snapshot& snapshot) {
    const auto for_each_in_use = [&](const auto& write) {
        for (const Snapshot::Entry& entry : snapshot.entries) {
            if (entry.is_in_use()) {
                write(entry);
            }
        }
    };
    text.begin("forecast_seconds", "histogram", "Latency of forecasts that succeeded.");
    for_each_in_use([&](const Snapshot::Entry& entry) {
        const std::string labels = labels_of(entry);
        for_each_written_edge([&](std::size_t index) {
            const double edge = LatencyCounts::seconds_of(LatencyBuckets::upper_edge(index));
            text.add("_bucket", labels + "," + PrometheusText::label("le", PrometheusText::number(edge)),
                     std::to_string(entry.latencies.count_until(index)));
        });
        const std::string count = std::to_string(entry.latencies.count());
        text.add("_bucket", labels + "," + PrometheusText::label("le", "+Inf"), count);
        text.add("_sum", labels, PrometheusText::number(LatencyCounts::seconds_of(entry.latencies.sum_nanoseconds)));
        text.add("_count", labels, count);
    });
    text.begin("forecast_latency_seconds", "summary",
               "Latency of forecasts since the counts were reset; quantile 0 is the shortest latency, 1 the longest.");
    for_each_in_use([&](const Snapshot::Entry& entry) {
        const LatencySummary latency = entry.latency();
        const std::string labels = labels_of(entry);
        const std::array quantiles{std::pair("0", latency.min), std::pair("0.5", latency.p50),
                                   std::pair("0.9", latency.p90), std::pair("0.99", latency.p99),
                                   std::pair("1", latency.max)};
        for (const auto& [quantile, seconds] : quantiles) {
            if (latency.count > 0) {
                text.add(labels + "," + PrometheusText::label("quantile", quantile), seconds);
            }
        }
        text.add("_sum", labels, PrometheusText::number(latency.sum_seconds));
        text.add("_count", labels, std::to_string(latency.count));
    });
}

TOTOGRAPH_INLINE void write_events(PrometheusText& text, const Snapshot& snapshot) {
    const auto write = [&](std::string_view family, std::string_view type, std::string_view help, const auto& value) {
        text.begin(family, type, help);
        for (const Snapshot::Entry& entry : snapshot.entries) {
            text.add(labels_of(entry), value(entry));
        }
    };
    using Entry = Snapshot::Entry;
    write("forecasts_total", "counter", "Forecasts that succeeded.", [](const Entry& e) { return e.forecasts; });
    write("forecasts_not_finite_total", "counter",
          "Forecasts with values that are no finite numbers, which succeeded and should not be used.",
          [](const Entry& e) { return e.not_finite; });
    write("forecast_failures_total", "counter", "Requests that ended with an error, once a bucket was found for them.",
          [](const Entry& e) { return e.failures; });
    write("builds_total", "counter", "Forecasters made.", [](const Entry& e) { return e.builds; });
    write("build_seconds_total", "counter", "Time that making them took.",
          [](const Entry& e) { return e.build_seconds; });
    write("captures_total", "counter", "Graphs captured.", [](const Entry& e) { return e.captures; });
    write("replays_total", "counter", "Captured graphs replayed.", [](const Entry& e) { return e.replays; });
    write("eager_fallbacks_total", "counter", "Requests that went to mode eager in place of this one.",
          [](const Entry& e) { return e.eager_fallbacks; });
    write("graph_breaks_total", "counter", "Always 0: programs are constants without a way back to the host.",
          [](const Entry&) { return Entry::graph_breaks; });
    write("held_bytes", "gauge", "Memory of forecasters beside the weights.",
          [](const Entry& e) { return e.bytes_held; });

    text.begin("recaptures_total", "counter",
               "Requests after warm-up that needed what was not built, whatever came of them, by reason.");
    for (const Entry& entry : snapshot.entries) {
        for (const RecaptureReason reason : all_recapture_reasons) {
            text.add(labels_of(entry) + "," + PrometheusText::label("reason", name(reason)),
                     entry.recaptures[static_cast<std::size_t>(reason)]);
        }
    }
}

TOTOGRAPH_INLINE void write_caches(PrometheusText& text, const Snapshot& snapshot) {
    const auto write = [&](std::string_view family, std::string_view help, std::uint64_t CacheCounts::*count) {
        text.begin(family, "counter", help);
        for (const CacheCounts& cache : snapshot.caches) {
            text.add(PrometheusText::label("cache", cache.name), cache.*count);
        }
    };
    write("cache_hits_total", "Look-ups that a cache answered.", &CacheCounts::hits);
    write("cache_misses_total", "Look-ups that it could not answer.", &CacheCounts::misses);
    write("cache_files_ignored_total", "Cache files that were there and not used.", &CacheCounts::ignored);
}

TOTOGRAPH_INLINE void write_accuracy(PrometheusText& text, const Snapshot& snapshot) {
    const auto write = [&](std::string_view family, std::string_view type, std::string_view help,
                           auto AccuracyEntry::*value) {
        text.begin(family, type, help);
        for (const AccuracyEntry& entry : snapshot.accuracy) {
            const auto found = entry.*value;
            if constexpr (std::is_same_v<decltype(found), const double>) {
                if (!std::isnan(found)) {
                    text.add(PrometheusText::label("group", entry.group), found);
                }
            } else {
                text.add(PrometheusText::label("group", entry.group), static_cast<std::uint64_t>(found));
            }
        }
    };
    write("accuracy_scored_total", "counter", "Observations that a forecast was waiting for.", &AccuracyEntry::scored);
    write("accuracy_missed_total", "counter", "Observations that no forecast was waiting for.", &AccuracyEntry::missed);
    write("accuracy_window_steps", "gauge", "Scored steps that the other gauges of accuracy are of.",
          &AccuracyEntry::window);
    write("accuracy_mae", "gauge", "Mean absolute error over the window, in the series' unit.", &AccuracyEntry::mae);
    write("accuracy_rmse", "gauge", "Root of the mean squared error over the window.", &AccuracyEntry::rmse);
    write("accuracy_bias", "gauge", "Mean of forecast minus observation over the window.", &AccuracyEntry::bias);
    write("accuracy_coverage_ratio", "gauge", "Share of observations within the forecast's band.",
          &AccuracyEntry::coverage);
}

}  // namespace detail

TOTOGRAPH_INLINE std::string prometheus_text(const Snapshot& snapshot) {
    detail::PrometheusText text;
    detail::write_events(text, snapshot);
    detail::write_requests_without_bucket(text, snapshot);
    detail::write_latencies(text, snapshot);
    detail::write_caches(text, snapshot);
    detail::write_accuracy(text, snapshot);
    text.begin("counted_seconds", "gauge", "Time since the counts began or were reset.");
    text.add("", snapshot.since_seconds);
    return text.take();
}

}  // namespace totograph::serve
