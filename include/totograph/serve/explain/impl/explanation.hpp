// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/explain/explanation.hpp>

#include <algorithm>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE Index Explanation::total(Index ProgramSummary::*each) const {
    Index sum = 0;
    for (const ProgramSummary& program : programs) {
        sum += program.*each * program.runs;
    }
    return sum;
}

TOTOGRAPH_INLINE double floor_seconds(const Explanation& explanation, const DeviceSpeed& speed) {
    double seconds = 0;
    for (const ProgramSummary& program : explanation.programs) {
        const double moving = static_cast<double>(program.bytes) / speed.bytes_per_second;
        const double computing = static_cast<double>(program.flops) / speed.flops_per_second;
        seconds += static_cast<double>(program.runs) * std::max(moving, computing);
    }
    return seconds;
}

}  // namespace totograph::serve
