// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/drift.hpp>

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/diagnostics/drift_file.hpp>
#include <totograph/diagnostics/stress/data.hpp>
#include <totograph/diagnostics/stress/deviation.hpp>
#include <totograph/diagnostics/stress/jumps.hpp>
#include <totograph/diagnostics/stress/markdown.hpp>
#include <totograph/diagnostics/stress/report_json.hpp>
#include <totograph/diagnostics/stress/thresholds.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/metrics/json_parts.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/service.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE DriftSet record_forecasts(ForecastService& service, const BuildIdentity& build,
                                           std::vector<std::pair<std::string, StressRequest>> requests) {
    DriftSet set{to_string(build), service.backend(), std::string(name(service.mode())), {}};
    for (auto& named : requests) {
        const Forecast forecast = service.forecast(named.second.series(), named.second.options());
        std::vector<float> values = detail::compared_values(forecast, Compared::values);
        set.cases.push_back({std::move(named.first),
                             std::move(named.second),
                             std::move(values),
                             {forecast.levels().begin(), forecast.levels().end()}});
    }
    return set;
}

TOTOGRAPH_INLINE DriftReport compare_with(ForecastService& service, const BuildIdentity& build, const DriftSet& set,
                                          const StressThresholds& thresholds) {
    DriftReport report{.recorded = set.build + ", " + set.backend + ", " + set.mode,
                       .found = to_string(build) + ", " + service.backend() + ", " + std::string(name(service.mode())),
                       .rows = {}};
    Jumps all;
    for (const DriftSet::Case& one : set.cases) {
        DriftReport::Row row{.name = one.name, .sizes = one.request.sizes};
        try {
            const Forecast found = service.forecast(one.request.series(), one.request.options());
            const ForecastDeviation deviation = compare_forecasts(found, one.view(), one.request.scales, thresholds);
            row.jumps.add(deviation, thresholds);
            for (const Deviation& each : deviation.variates) {
                row.deviation.add(each);
            }
            all.add(row.jumps);
            row.passed = row.deviation.is_within(thresholds) && row.jumps.fault(thresholds).empty();
        } catch (const std::exception& error) {
            row.failure = error.what();
        }
        report.rows.push_back(std::move(row));
    }
    report.jumps_fault = all.fault(thresholds);
    return report;
}

TOTOGRAPH_INLINE std::string markdown_text(const DriftReport& report) {
    MarkdownTable table({"case", "result", "bits", "MAE", "worst MAE", "worst step", "largest", "jumps"});
    std::string failures;
    for (const DriftReport::Row& row : report.rows) {
        const auto number = [](double value) { return totograph::detail::number_text(value, 2); };
        table.add_row({row.name, row.passed ? "passed" : "FAILED",
                       !row.failure.empty()             ? "-"
                       : row.deviation.is_bitwise_equal ? "equal"
                                                        : "differ",
                       number(row.deviation.mae()), number(row.deviation.worst_mae), number(row.deviation.worst_step),
                       number(row.deviation.largest), std::to_string(row.jumps.jumped())});
        failures +=
            row.failure.empty() ? "" : "\n" + io::printable(row.name, io::longest_quote) + ": " + row.failure + "\n";
    }
    return "# Drift: " + std::string(report.passed() ? "passed" : "FAILED") +
           "\n\nRecorded: " + io::printable(report.recorded, io::longest_quote) + ".\nCompared: " + report.found +
           ".\n\n" + table.text() +
           (report.jumps_fault.empty() ? "" : "\nFutures that jumped, of all cases: " + report.jumps_fault + ".\n") +
           failures;
}

TOTOGRAPH_INLINE std::string json_text(const DriftReport& report) {
    using detail::Json;
    return detail::document_text({{"passed", report.passed()},
                                  {"recorded", report.recorded},
                                  {"found", report.found},
                                  {"jumps_fault", report.jumps_fault},
                                  {"cases", detail::json_list(report.rows, [](const DriftReport::Row& row) {
                                       return Json{{"name", row.name},
                                                   {"sizes", detail::bucket_json(row.sizes)},
                                                   {"passed", row.passed},
                                                   {"failure", row.failure},
                                                   {"deviation", detail::json_of(row.deviation)},
                                                   {"futures", detail::json_of(row.jumps)}};
                                   })}});
}

}  // namespace totograph::serve
