// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <totograph/core/bucket.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/forecast_counters.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/stress/json_writer.hpp>
#include <totograph/serve/stress/report.hpp>
#include <totograph/serve/warm_up_report.hpp>

namespace totograph::serve {

namespace detail {

inline void write_json(JsonWriter& json, const Bucket& bucket) {
    json.open('{').key("batch").value(bucket.batch).key("variates").value(bucket.variates);
    json.key("context").value(bucket.context).key("horizon").value(bucket.horizon);
    json.key("samples").value(bucket.samples).key("exogenous").value(bucket.exogenous).close('}');
}

inline void write_json(JsonWriter& json, const BuildIdentity& build) {
    json.open('{').key("library").value(build.library).key("compiler").value(build.compiler);
    json.key("vectors").value(build.vectors).key("optimized").value(build.is_optimized);
    json.key("assertions").value(build.has_assertions).key("sanitized").value(build.is_sanitized).close('}');
}

inline void write_json(JsonWriter& json, const Deviation& deviation) {
    json.open('{').key("mae").value(deviation.mae()).key("rmse").value(deviation.rmse());
    json.key("largest").value(deviation.largest).key("worst_mae").value(deviation.worst_mae);
    json.key("values").value(deviation.values).key("futures").value(deviation.futures);
    json.key("jumps").value(deviation.jumps).key("not_finite").value(deviation.not_finite);
    json.key("bitwise_equal").value(deviation.is_bitwise_equal).close('}');
}

inline void write_json(JsonWriter& json, const Latencies& latencies) {
    json.open('{').key("count").value(latencies.count()).key("p50_seconds").value(latencies.median());
    json.key("p99_seconds").value(latencies.quantile(0.99)).key("max_seconds").value(latencies.largest()).close('}');
}

inline void write_json(JsonWriter& json, const StressThresholds& thresholds) {
    json.open('{').key("compared").value(thresholds.compared == Compared::values ? "values" : "summaries");
    json.key("mae").value(thresholds.mae).key("jump").value(thresholds.jump).key("jumps").value(thresholds.jumps);
    json.key("recaptures").value(thresholds.recaptures).key("slowest").value(thresholds.slowest);
    json.key("memory").value(thresholds.memory).key("memory_slack_bytes").value(thresholds.memory_slack);
    json.key("growth_bytes").value(thresholds.growth).key("ignored_caches").value(thresholds.ignored_caches).close('}');
}

inline void write_json(JsonWriter& json, const StressMemory& memory) {
    json.open('{').key("planned_bytes").value(memory.planned).key("held_bytes").value(memory.held);
    json.key("service_before_bytes").value(memory.held_before).key("service_after_bytes").value(memory.held_after);
    json.key("process_before_bytes").value(memory.process_before);
    json.key("process_after_bytes").value(memory.process_after);
    json.key("device_before_bytes").value(memory.device_before);
    json.key("device_after_bytes").value(memory.device_after).close('}');
}

inline void write_json(JsonWriter& json, const WarmUpReport::Row& row) {
    json.open('{').key("backend").value(row.backend).key("mode").value(name(row.mode)).key("bucket");
    write_json(json, row.bucket);
    json.key("build_seconds").value(row.build_seconds).key("captures").value(row.captures);
    json.key("first_seconds").value(row.first_seconds).key("later_seconds").value(row.later_seconds);
    json.key("bytes").value(row.bytes).close('}');
}

inline void write_json(JsonWriter& json, const StressCase& one) {
    json.open('{').key("data").value(one.data).key("sizes");
    write_json(json, one.sizes);
    json.key("deviation");
    write_json(json, one.deviation);
    json.key("latency");
    write_json(json, one.tested);
    json.key("baseline_latency");
    write_json(json, one.baseline);
    json.key("ratio").value(one.ratios.median()).key("repeats").value(one.repeats).close('}');
}

inline void write_json(JsonWriter& json, const StressVariate& variate) {
    json.open('{').key("data").value(variate.data).key("name").value(variate.name);
    json.key("forecasts").value(variate.forecasts).key("deviation");
    write_json(json, variate.deviation);
    json.close('}');
}

inline void write_json(JsonWriter& json, const StressCheck& check) {
    json.open('{').key("name").value(check.name).key("passed").value(check.passed);
    json.key("found").value(check.found).key("limit").value(check.limit).close('}');
}

inline void write_json(JsonWriter& json, const CacheCounts& cache) {
    json.open('{').key("name").value(cache.name).key("hits").value(cache.hits).key("misses").value(cache.misses);
    json.key("ignored").value(cache.ignored).key("last_reason").value(cache.last_reason).close('}');
}

/// The value of a key, a list of anything that `write_json` writes.
template <class Items>
void write_list(JsonWriter& json, std::string_view key, const Items& items) {
    json.key(key).open('[');
    for (const auto& item : items) {
        write_json(json, item);
    }
    json.close(']');
}

}  // namespace detail

/// A stress report as a JSON object, UTF-8, its keys always in this order: `passed`, `checks`, `backend`, `mode`,
/// `baseline`, `build`, `level`, `iterations`, `seed`, `thresholds`, `forecasts`, `failures`, `first_failure`,
/// `recaptures`, `memory`, `caches`, `warm_up`, `cases`, `variates`, `notes`. Deviations are in units of a series'
/// scale.
inline std::string json_text(const StressReport& report) {
    using detail::write_json;
    using detail::write_list;
    JsonWriter json;
    json.key("passed").value(report.passed());
    write_list(json, "checks", report.checks);
    json.key("backend").value(report.backend).key("mode").value(name(report.mode));
    json.key("baseline").open('{').key("backend").value(report.baseline_backend);
    json.key("mode").value(name(Mode::eager)).close('}').key("build");
    write_json(json, report.build);
    json.key("level").value(name(report.level)).key("iterations").value(report.iterations);
    json.key("seed").value(report.seed).key("thresholds");
    write_json(json, report.thresholds);
    json.key("forecasts").value(report.forecasts).key("failures").value(report.failures);
    json.key("first_failure").value(report.first_failure).key("recaptures").open('{');
    for (const RecaptureReason reason : all_recapture_reasons) {
        json.key(name(reason)).value(report.recaptures[static_cast<std::size_t>(reason)]);
    }
    json.close('}').key("memory");
    write_json(json, report.memory);
    write_list(json, "caches", report.caches);
    write_list(json, "warm_up", report.warm_up.rows);
    write_list(json, "cases", report.cases);
    write_list(json, "variates", report.variates);
    json.key("notes").open('[');
    for (const std::string& note : report.notes) {
        json.value(note);
    }
    json.close(']');
    return json.text();
}

}  // namespace totograph::serve
