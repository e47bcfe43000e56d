// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
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
std::string to_string(const WarmUpReport& report);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/warm_up_report.hpp>
#endif
