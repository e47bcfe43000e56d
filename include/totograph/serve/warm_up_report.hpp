// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

/// What a warm-up built, and how long the first forecasts took.
struct WarmUpReport {
    /// A bucket in one mode.
    struct Row {
        std::string backend;
        Mode mode = Mode::eager;
        Bucket bucket;
        double build_seconds = 0;  ///< Making it: preparing weights, tuning, capturing; 0 when it was there.
        Index captures = 0;        ///< Graphs captured.
        double first_seconds = 0;  ///< The first forecast; 0 when none was made.
        double later_seconds = 0;  ///< The fastest of the others; 0 when there were none.
        std::size_t bytes = 0;     ///< Held beside the weights.
    };
    std::vector<Row> rows;
    double seconds = 0;  ///< All of it.
};

/// The report as a table.
inline std::string to_string(const WarmUpReport& report) {
    totograph::detail::TextTable table({{"backend"},
                                        {"mode"},
                                        {"size"},
                                        {"build", true},
                                        {"captures", true},
                                        {"first forecast", true},
                                        {"later", true},
                                        {"memory", true}});
    for (const WarmUpReport::Row& row : report.rows) {
        table.add_row({row.backend, std::string(name(row.mode)), to_string(row.bucket),
                       detail::seconds_text(row.build_seconds), std::to_string(row.captures),
                       detail::seconds_text(row.first_seconds), detail::seconds_text(row.later_seconds),
                       totograph::detail::bytes_text(row.bytes)});
    }
    return (report.rows.empty() ? "nothing to build\n" : table.text()) + "ready after " +
           detail::seconds_text(report.seconds) + "\n";
}

}  // namespace totograph::serve
