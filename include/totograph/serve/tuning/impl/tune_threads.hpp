// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/tuning/tune_threads.hpp>

#include <chrono>
#include <cstddef>
#include <string>

#include <totograph/core/inline.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>
#include <totograph/serve/synthetic_request.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE double median_seconds(BucketForecaster& forecaster, const SyntheticRequest& request, double too_slow) {
    using Clock = std::chrono::steady_clock;
    return median_seconds(
        [&] {
            const auto start = Clock::now();
            (void)forecaster.forecast(request.series(), request.options());
            return std::chrono::duration<double>(Clock::now() - start).count();
        },
        too_slow);
}

TOTOGRAPH_INLINE std::string to_string(const ThreadTuning& tuning) {
    std::string text;
    for (const ThreadTuning::Trial& trial : tuning.trials) {
        text += (text.empty() ? "" : ", ") +
                totograph::detail::count_text(static_cast<std::size_t>(trial.threads), "thread", "threads") + " " +
                seconds_text(trial.seconds);
    }
    return text + ": takes " + std::to_string(tuning.best);
}

}  // namespace totograph::serve::detail
