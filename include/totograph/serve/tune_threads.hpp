// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <totograph/graph/explain_text.hpp>
#include <totograph/serve/backend.hpp>
#include <totograph/serve/practice_series.hpp>
#include <totograph/serve/seconds_text.hpp>

// With how many threads a forecast is fastest, by measurement.
namespace totograph::serve::detail {

/// The median of three forecasts, of which the first is slow.
inline double median_seconds(BucketForecaster& forecaster, const PracticeSeries& practice) {
    using Clock = std::chrono::steady_clock;
    std::array<double, 3> seconds{};
    for (double& one : seconds) {
        const auto start = Clock::now();
        (void)forecaster.forecast(practice.series(), practice.options());
        one = std::chrono::duration<double>(Clock::now() - start).count();
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[1];
}

/// What was measured, and the number of threads to take.
struct ThreadTuning {
    struct Trial {
        int threads;
        double seconds;
    };
    std::vector<Trial> trials;
    int best = 1;
};

/// Halves the number of threads from `most` on, until a forecast is slower by 30% than the fastest; takes the fewest
/// that are as fast as any to 2%, and leaves the others to those who need them. `measure(threads)` gives seconds.
template <class Measure>
ThreadTuning tune_threads(int most, Measure measure) {
    ThreadTuning tuning;
    double fastest = 0;
    for (int threads = most; threads >= 1; threads /= 2) {
        const double seconds = measure(threads);
        fastest = tuning.trials.empty() ? seconds : std::min(fastest, seconds);
        tuning.trials.push_back({threads, seconds});
        if (seconds > 1.3 * fastest) {
            break;
        }
    }
    for (const ThreadTuning::Trial& trial : tuning.trials) {
        if (trial.seconds <= 1.02 * fastest) {
            tuning.best = trial.threads;
        }
    }
    return tuning;
}

/// `2 threads 63.2 ms, 1 thread 37.8 ms: takes 1`.
inline std::string to_string(const ThreadTuning& tuning) {
    std::string text;
    for (const ThreadTuning::Trial& trial : tuning.trials) {
        text += (text.empty() ? "" : ", ") +
                totograph::detail::count_text(static_cast<std::size_t>(trial.threads), "thread", "threads") + " " +
                seconds_text(trial.seconds);
    }
    return text + ": takes " + std::to_string(tuning.best);
}

}  // namespace totograph::serve::detail
