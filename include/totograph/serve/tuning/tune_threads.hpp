// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/synthetic_request.hpp>

// With how many threads a forecast is fastest, by measurement.
namespace totograph::serve::detail {

/// Beyond so many times the fastest, a number of threads is no candidate, and fewer need not be tried.
inline constexpr double hopeless = 1.3;

/// The median of what `timed()` gives, seconds of a forecast, after a first one that is slower: of as many as take 10
/// ms, of two at least (the faster one) and of 64 at most, for short ones scatter. Of forecasts that take half a second
/// and more, where the first one is hardly slower, the faster of the first two; of the first alone when it is
/// `too_slow`.
template <class Timed>
double median_seconds(Timed timed, double too_slow) {
    constexpr double is_long = 0.5;
    constexpr double long_enough = 0.01;
    constexpr std::size_t fewest = 2;
    constexpr std::size_t most = 64;
    const double first = timed();
    if (first >= is_long) {
        return first > too_slow ? first : std::min(first, timed());
    }
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

/// The same of forecasts of a request.
double median_seconds(BucketForecaster& forecaster, const SyntheticRequest& request,
                      double too_slow = std::numeric_limits<double>::infinity());

/// What was measured, and the number of threads to take.
struct ThreadTuning {
    struct Trial {
        int threads;
        double seconds;
    };
    std::vector<Trial> trials;
    int best = 1;
};

/// Halves the number of threads from `most` on, until a forecast is `hopeless`; takes the fewest that are as fast as
/// any to 2%, and leaves the others to those who need them. `measure(threads, too_slow)` gives seconds, and need not
/// look closely at what is beyond `too_slow`.
template <class Measure>
ThreadTuning tune_threads(int most, Measure measure) {
    ThreadTuning tuning;
    double fastest = std::numeric_limits<double>::infinity();
    for (int threads = most; threads >= 1; threads /= 2) {
        const double seconds = measure(threads, hopeless * fastest);
        fastest = std::min(fastest, seconds);
        tuning.trials.push_back({threads, seconds});
        if (seconds > hopeless * fastest) {
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
std::string to_string(const ThreadTuning& tuning);

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/tuning/impl/tune_threads.hpp>
#endif
