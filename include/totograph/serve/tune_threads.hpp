// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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

/// The median of forecasts, after a first one that is slower: of as many as take 10 ms, of two at least (the faster
/// one) and of 64 at most, for short ones scatter.
inline double median_seconds(BucketForecaster& forecaster, const PracticeSeries& practice) {
    using Clock = std::chrono::steady_clock;
    constexpr double long_enough = 0.01;
    constexpr std::size_t fewest = 2;
    constexpr std::size_t most = 64;
    const auto timed = [&] {
        const auto start = Clock::now();
        (void)forecaster.forecast(practice.series(), practice.options());
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    (void)timed();
    std::vector<double> seconds;
    double all = 0;
    while (seconds.size() < fewest || (all < long_enough && seconds.size() < most)) {
        seconds.push_back(timed());
        all += seconds.back();
    }
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>((seconds.size() - 1) / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return *middle;
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
