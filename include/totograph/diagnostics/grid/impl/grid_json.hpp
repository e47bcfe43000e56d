// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/grid/grid_json.hpp>

#include <span>
#include <string>

#include <totograph/core/inline.hpp>
#include <totograph/diagnostics/grid/grid_checks.hpp>
#include <totograph/diagnostics/grid/grid_row.hpp>
#include <totograph/diagnostics/stress/latencies.hpp>
#include <totograph/diagnostics/stress/report.hpp>
#include <totograph/serve/metrics/json_parts.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

namespace detail {

inline Json grid_latencies_json(const Latencies& latencies) {
    return {{"count", latencies.count()}, {"p50_seconds", latencies.median()}, {"max_seconds", latencies.largest()}};
}

inline Json grid_run_json(const GridRun& run) {
    const GridAgreement& agreement = run.agreement;
    return {{"backend", run.backend},
            {"device", run.device.empty() ? Json() : Json(run.device)},
            {"precision", run.precision},
            {"mode", std::string(name(run.mode))},
            {"first_build_seconds", run.first_build_seconds},
            {"build", grid_latencies_json(run.build)},
            {"first_seconds", run.first_seconds},
            {"call", grid_latencies_json(run.call)},
            {"one_step", grid_latencies_json(run.one_step)},
            {"shared_weight_bytes", run.plan.shared_weight_bytes},
            {"state_bytes", run.plan.state_bytes},
            {"cache_bytes", run.plan.cache_bytes},
            {"arena_bytes", run.plan.arena_bytes},
            {"workspace_bytes", run.plan.workspace_bytes},
            {"held_bytes", run.held_bytes},
            {"captures", run.captures},
            {"captured_later", run.captured_later},
            {"planned_replays", run.plan.graph_launches},
            {"replays", run.replays},
            {"counted_replays", run.counted_replays ? Json(*run.counted_replays) : Json()},
            {"graph_breaks", run.graph_breaks()},
            {"waits", run.waits ? Json(*run.waits) : Json()},
            {"allocations", run.allocations ? Json(*run.allocations) : Json()},
            {"values", agreement.values},
            {"equal", agreement.equal},
            {"distinct", agreement.distinct},
            {"equality_required", agreement.is_required},
            {"not_valid", agreement.not_valid},
            {"repeats", agreement.repeats}};
}

}  // namespace detail

TOTOGRAPH_INLINE std::string grid_json(std::span<const GridRow> rows, std::span<const StressCheck> checks,
                                       const GridSetting& setting) {
    using detail::Json;
    using detail::json_list;
    return detail::document_text({{"passed", all_passed(checks)},
                                  {"checks", json_list(checks,
                                                       [](const StressCheck& check) {
                                                           return Json{{"name", check.name},
                                                                       {"passed", check.passed},
                                                                       {"found", check.found},
                                                                       {"limit", check.limit}};
                                                       })},
                                  {"model", setting.model},
                                  {"checkpoint", setting.checkpoint.empty() ? Json() : Json(setting.checkpoint)},
                                  {"threads", setting.threads},
                                  {"build", to_string(setting.build)},
                                  {"rows", json_list(rows, [](const GridRow& row) {
                                       return Json{{"sizes", detail::bucket_json(row.sizes)},
                                                   {"runs", json_list(row.runs, detail::grid_run_json)}};
                                   })}});
}

}  // namespace totograph::serve
