// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/warm_up_report.hpp>

#include <string>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE std::string to_string(const WarmUpReport& report) {
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
