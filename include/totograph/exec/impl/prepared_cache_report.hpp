// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/prepared_cache_report.hpp>

#include <string>

#include <totograph/core/inline.hpp>

namespace totograph {

TOTOGRAPH_INLINE void PreparedCacheReport::add(const PreparedCacheReport& further) {
    hits += further.hits;
    misses += further.misses;
    ignored += further.ignored;
    folder = further.folder;
    reason = further.reason.empty() ? reason : further.reason;
    not_written = further.not_written.empty() ? not_written : further.not_written;
}

TOTOGRAPH_INLINE std::string to_string(const PreparedCacheReport& report) {
    std::string text = std::to_string(report.hits) + " from files, " + std::to_string(report.misses) + " not found";
    text += report.ignored == 0 ? "" : ", " + std::to_string(report.ignored) + " files ignored";
    text += report.folder.empty() ? "; no folder" : "; " + report.folder;
    text += report.reason.empty() ? "" : "; " + report.reason;
    return text + (report.not_written.empty() ? "" : "; " + report.not_written);
}

}  // namespace totograph
