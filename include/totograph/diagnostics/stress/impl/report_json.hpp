// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/stress/report_json.hpp>

#include <cstddef>
#include <span>
#include <string>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/diagnostics/stress/compare_variants.hpp>
#include <totograph/diagnostics/stress/deviation.hpp>
#include <totograph/diagnostics/stress/jumps.hpp>
#include <totograph/diagnostics/stress/latencies.hpp>
#include <totograph/diagnostics/stress/measure_builds.hpp>
#include <totograph/diagnostics/stress/report.hpp>
#include <totograph/diagnostics/stress/thresholds.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>
#include <totograph/serve/metrics/json_parts.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/warm_up_report.hpp>

namespace totograph::serve {

namespace detail {

inline Json json_of(const BuildIdentity& build) {
    return {{"library", build.library},        {"compiler", build.compiler},         {"vectors", build.vectors},
            {"optimized", build.is_optimized}, {"assertions", build.has_assertions}, {"sanitized", build.is_sanitized}};
}

TOTOGRAPH_INLINE Json json_of(const Deviation& deviation) {
    return {{"mae", deviation.mae()},
            {"rmse", deviation.rmse()},
            {"largest", deviation.largest},
            {"worst_mae", deviation.worst_mae},
            {"worst_step", deviation.worst_step},
            {"scatter", deviation.scatter()},
            {"values", deviation.values},
            {"futures", deviation.futures},
            {"jumps", deviation.jumps},
            {"not_finite", deviation.not_finite},
            {"bitwise_equal", deviation.is_bitwise_equal}};
}

TOTOGRAPH_INLINE Json json_of(const Jumps& jumps) {
    return {{"futures", jumps.futures()}, {"jumped", jumps.jumped()}, {"draws", jumps.draws()}};
}

inline Json json_of(const Latencies& latencies) {
    return {{"count", latencies.count()},
            {"p50_seconds", latencies.median()},
            {"p99_seconds", latencies.quantile(0.99)},
            {"max_seconds", latencies.largest()}};
}

inline Json json_of(const StressThresholds& thresholds) {
    return {{"compared", thresholds.compared == Compared::values ? "values" : "summaries"},
            {"mae", thresholds.mae},
            {"worst", thresholds.worst},
            {"worst_step", thresholds.worst_step},
            {"jump", thresholds.least_jump()},
            {"jumps", thresholds.jumps},
            {"jumped_futures", thresholds.jumped_futures},
            {"recaptures", thresholds.recaptures},
            {"slowest", thresholds.slowest},
            {"memory", thresholds.memory},
            {"memory_slack_bytes", thresholds.memory_slack},
            {"growth_bytes", thresholds.growth},
            {"ignored_caches", thresholds.ignored_caches}};
}

inline Json json_of(const StressMemory& memory) {
    return {{"planned_bytes", memory.planned},
            {"held_bytes", memory.held},
            {"service_before_bytes", memory.held_before},
            {"service_after_bytes", memory.held_after},
            {"process_before_bytes", memory.process_before},
            {"process_after_bytes", memory.process_after},
            {"device_before_bytes", memory.device_before},
            {"device_after_bytes", memory.device_after}};
}

inline Json json_of(const WarmUpReport::Row& row) {
    return {{"backend", row.backend},
            {"mode", std::string(name(row.mode))},
            {"size", bucket_json(row.bucket)},
            {"build_seconds", row.build_seconds},
            {"captures", row.captures},
            {"first_seconds", row.first_seconds},
            {"later_seconds", row.later_seconds},
            {"bytes", row.bytes}};
}

inline Json json_of(const StressCase& one) {
    return {{"data", one.data},
            {"sizes", bucket_json(one.sizes)},
            {"deviation", json_of(one.deviation)},
            {"futures", json_of(one.jumps)},
            {"iterations", one.iterations},
            {"first_seconds", one.first_seconds},
            {"latency", json_of(one.tested)},
            {"baseline_latency", json_of(one.baseline)},
            {"planned_latency", json_of(one.planned)},
            {"ratio", one.ratios.median()},
            {"ratio_quartiles", {one.ratios.quantile(0.25), one.ratios.quantile(0.75)}},
            {"repeats", one.repeats}};
}

inline Json json_of(const StressVariate& variate) {
    return {{"data", variate.data},
            {"name", variate.name},
            {"forecasts", variate.forecasts},
            {"deviation", json_of(variate.deviation)}};
}

inline Json json_of(const StressCheck& check) {
    return {{"name", check.name}, {"passed", check.passed}, {"found", check.found}, {"limit", check.limit}};
}

inline Json json_of(const VariantResult& result) {
    return {{"name", result.name},
            {"what", result.what},
            {"sizes", bucket_json(result.sizes)},
            {"latency", json_of(result.seconds)},
            {"ratio", result.ratios.median()},
            {"ratio_quartiles", {result.ratios.quantile(0.25), result.ratios.quantile(0.75)}},
            {"step", std::string(result.worth())},
            {"bytes", result.bytes},
            {"deviation", json_of(result.deviation)},
            {"futures", json_of(result.jumps)}};
}

inline Json json_of(const BuildLatency& row) {
    return {{"backend", row.backend},
            {"mode", std::string(name(row.mode))},
            {"size", bucket_json(row.bucket)},
            {"what", row.what},
            {"first_build_seconds", row.first_build_seconds},
            {"build", json_of(row.build)},
            {"captures", row.captures},
            {"first_seconds", row.first_seconds},
            {"later", json_of(row.later)},
            {"bytes", row.bytes}};
}

/// A list of anything that is told above.
template <class Items>
Json json_items(const Items& items) {
    return json_list(items, [](const auto& item) { return json_of(item); });
}

}  // namespace detail

TOTOGRAPH_INLINE std::string json_text(const StressReport& report) {
    using detail::json_items;
    detail::Json recaptures;
    for (const RecaptureReason reason : all_recapture_reasons) {
        recaptures[std::string(name(reason))] = report.recaptures[static_cast<std::size_t>(reason)];
    }
    return detail::document_text(
        {{"passed", report.passed()},
         {"checks", json_items(report.checks)},
         {"backend", report.backend},
         {"mode", std::string(name(report.mode))},
         {"baseline", {{"backend", report.baseline_backend}, {"mode", std::string(name(Mode::eager))}}},
         {"planned", report.planned_backend.empty() ? detail::Json()
                                                    : detail::Json{{"backend", report.planned_backend},
                                                                   {"mode", std::string(name(report.planned_mode))}}},
         {"build", detail::json_of(report.build)},
         {"level", std::string(name(report.level))},
         {"iterations", report.iterations},
         {"seed", report.seed},
         {"thresholds", detail::json_of(report.thresholds)},
         {"forecasts", report.forecasts},
         {"failures", report.failures},
         {"first_failure", report.first_failure},
         {"recaptures", recaptures},
         {"memory", detail::json_of(report.memory)},
         {"caches", json_items(report.caches)},
         {"warm_up", json_items(report.warm_up.rows)},
         {"cases", json_items(report.cases)},
         {"variates", json_items(report.variates)},
         {"notes", report.notes}});
}

TOTOGRAPH_INLINE std::string json_text(std::span<const VariantResult> results, const BuildIdentity& build) {
    return detail::document_text({{"build", detail::json_of(build)}, {"variants", detail::json_items(results)}});
}

TOTOGRAPH_INLINE std::string json_text(std::span<const BuildLatency> rows, const BuildIdentity& build) {
    return detail::document_text({{"build", detail::json_of(build)}, {"builds", detail::json_items(rows)}});
}

}  // namespace totograph::serve
