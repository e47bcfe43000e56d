// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/tuning_cache_report.hpp>

#include <string>

#include <totograph/core/inline.hpp>

namespace totograph {

TOTOGRAPH_INLINE std::string to_string(const TuningCacheReport& report) {
    std::string text = std::to_string(report.hits) + " from the file, " + std::to_string(report.misses) +
                       " measured, " + std::to_string(report.repeats) + " known already";
    text += report.refused == 0 ? "" : ", " + std::to_string(report.refused) + " of the file refused";
    text += report.path.empty() ? "; no file" : "; " + report.path;
    text += report.ignored.empty() ? "" : "; " + report.ignored;
    return text + (report.not_written.empty() ? "" : "; " + report.not_written);
}

}  // namespace totograph
