// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/stress/markdown.hpp>
#include <totograph/diagnostics/stress/report.hpp>
#include <totograph/diagnostics/stress/report_markdown.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>

namespace totograph::serve {

/// The cases of a run along one axis (`plan_axis`) as a Markdown table: latencies, series in a second, and the speed
/// against the planned program without the mode; below it each answer that is no. `title` names the axis.
inline std::string sweep_markdown(const StressReport& report, const std::string& title, Index Bucket::*axis) {
    MarkdownTable table({title, "p50", "p99", "series a second", "eager p50", "planned p50", "speed", "MAE", "jumps"});
    for (const StressCase& one : report.cases) {
        const double median = one.tested.median();
        const auto series = static_cast<double>(one.sizes.batch * one.sizes.variates);
        table.add_row({std::to_string(one.sizes.*axis), detail::seconds_text(median),
                       detail::seconds_text(one.tested.quantile(0.99)),
                       median > 0 ? totograph::detail::number_text(series / median, 4) : "-",
                       detail::seconds_text(one.baseline.median()), detail::planned_text(one),
                       detail::speed_text(one.ratios), totograph::detail::number_text(one.deviation.mae(), 2),
                       std::to_string(one.jumps.jumped())});
    }
    std::string text = table.text();
    for (const StressCheck& check : report.checks) {
        if (!check.passed) {
            text += "\nFAILED: " + check.name + ": " + check.found + (check.limit.empty() ? "" : "; limit: ") +
                    check.limit + ".\n";
        }
    }
    for (const std::string& note : report.notes) {
        text += "\n" + note + "\n";
    }
    return text;
}

}  // namespace totograph::serve
