// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/diagnostics/stress/markdown.hpp>
#include <totograph/diagnostics/stress/report.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/warm_up_report.hpp>

namespace totograph::serve {

namespace detail {

inline std::string deviation_text(double deviation) {
    return totograph::detail::number_text(deviation, 2);
}

/// Such as `1.21x (1.18 to 1.25)`: the median of how many times faster than the planned program, and its quartiles.
inline std::string speed_text(const Latencies& ratios) {
    const auto speed = [&](double level) {
        const double times = 1 / ratios.quantile(level);
        return totograph::detail::number_text(times, times < 1000 ? 3 : 6);
    };
    if (ratios.count() == 0 || ratios.quantile(0) <= 0) {
        return "-";
    }
    return speed(0.5) + "x (" + speed(0.75) + " to " + speed(0.25) + ")";
}

inline std::string planned_text(const StressCase& one) {
    return one.planned.count() == 0 ? "-" : seconds_text(one.planned.median());
}

inline std::string checks_markdown(const StressReport& report) {
    MarkdownTable table({"check", "result", "found", "limit"}, MarkdownTable::Holds::words);
    for (const StressCheck& check : report.checks) {
        table.add_row({check.name, check.passed ? "passed" : "FAILED", check.found, check.limit});
    }
    return table.text();
}

inline std::string cases_markdown(const StressReport& report) {
    const bool has_several = std::any_of(report.cases.begin(), report.cases.end(),
                                         [&](const StressCase& one) { return one.data != report.cases.front().data; });
    MarkdownTable table({"request", "pairs", "MAE", "RMSE", "largest", "jumps", "first", "p50", "p99", "eager p50",
                         "planned p50", "speed"});
    for (const StressCase& one : report.cases) {
        table.add_row({to_string(one.sizes) + (has_several ? ", " + one.data : ""), std::to_string(one.tested.count()),
                       deviation_text(one.deviation.mae()), deviation_text(one.deviation.rmse()),
                       deviation_text(one.deviation.largest), std::to_string(one.jumps.jumped()),
                       seconds_text(one.first_seconds), seconds_text(one.tested.median()),
                       seconds_text(one.tested.quantile(0.99)), seconds_text(one.baseline.median()), planned_text(one),
                       speed_text(one.ratios)});
    }
    return table.text();
}

inline std::string variates_markdown(const StressReport& report) {
    MarkdownTable table({"series", "data", "forecasts", "MAE", "worst MAE", "worst step", "RMSE", "largest", "jumps"});
    for (const StressVariate& variate : report.variates) {
        table.add_row({variate.name, variate.data, std::to_string(variate.forecasts),
                       deviation_text(variate.deviation.mae()), deviation_text(variate.deviation.worst_mae),
                       deviation_text(variate.deviation.worst_step), deviation_text(variate.deviation.rmse()),
                       deviation_text(variate.deviation.largest), std::to_string(variate.deviation.jumps)});
    }
    return table.text();
}

inline std::string warm_up_markdown(const WarmUpReport& report) {
    MarkdownTable table({"size", "build", "captures", "first forecast", "later", "memory"});
    for (const WarmUpReport::Row& row : report.rows) {
        table.add_row({to_string(row.bucket), seconds_text(row.build_seconds), std::to_string(row.captures),
                       seconds_text(row.first_seconds), seconds_text(row.later_seconds),
                       totograph::detail::bytes_text(row.bytes)});
    }
    return table.text();
}

}  // namespace detail

/// A stress report as Markdown that reads well in a terminal, too. Deviations are in units of a series' scale.
inline std::string markdown_text(const StressReport& report) {
    std::string text = "# Stress report: " + std::string(report.passed() ? "passed" : "FAILED") + "\n\n" + "Backend '" +
                       report.backend + "' in mode " + std::string(name(report.mode)) + ", against '" +
                       report.baseline_backend + "' in mode eager" +
                       (report.planned_backend.empty() ? ""
                                                       : ", timed beside '" + report.planned_backend + "' in mode " +
                                                             std::string(name(report.planned_mode))) +
                       "; level " + std::string(name(report.level)) + ", each request " +
                       std::to_string(report.iterations) + " times, seed " + std::to_string(report.seed) +
                       ".\nBuilt with " + to_string(report.build) + ".\n\n" + detail::checks_markdown(report);
    for (const std::string& note : report.notes) {
        text += "\n" + note + "\n";
    }
    if (!report.warm_up.rows.empty()) {
        text += "\n## Warm-up\n\n" + detail::warm_up_markdown(report.warm_up);
    }
    if (!report.cases.empty()) {
        text +=
            "\n## Requests\n\nDeviations are in units of a series' scale, without futures that jumped. First calls are "
            "told and compared with nothing; the p99 of " +
            std::to_string(report.iterations) +
            " is all but the slowest. Speed is how many times faster than the planned program without the mode, and "
            "the quartiles of that.\n\n" +
            detail::cases_markdown(report);
    }
    if (!report.variates.empty()) {
        text += "\n## Series\n\n" + detail::variates_markdown(report);
    }
    return text;
}

}  // namespace totograph::serve
