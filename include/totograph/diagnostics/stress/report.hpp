// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/cache_counts.hpp>
#include <totograph/diagnostics/stress/deviation.hpp>
#include <totograph/diagnostics/stress/jumps.hpp>
#include <totograph/diagnostics/stress/latencies.hpp>
#include <totograph/diagnostics/stress/plan.hpp>
#include <totograph/diagnostics/stress/thresholds.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/warm_up_report.hpp>

namespace totograph::serve {

/// Requests of one size from one data set.
struct StressCase {
    Bucket sizes;
    std::string data;
    Deviation deviation{};
    Jumps jumps{};
    double first_seconds = 0;  ///< Of the first forecast of this size, which is compared with nothing,
    int iterations = 0;        ///< How often it was to be made after that (`iterations_of`).
    Latencies tested{};        ///< Of all others.
    Latencies baseline{};      ///< Likewise, taken in turns with the others.
    Latencies planned{};       ///< Of the planned program without the tested mode; none: not timed.
    Latencies ratios{};        ///< Of each round: tested by planned.
    bool repeats = true;       ///< The same request gave the same bits again.
};

/// One column of a data set, in all cases together.
struct StressVariate {
    std::string data;
    std::string name;
    std::uint64_t forecasts = 0;
    Deviation deviation{};
};

/// Memory, in bytes.
struct StressMemory {
    std::size_t planned = 0;         ///< As `explain` predicts for everything that the warm-up built.
    std::size_t held = 0;            ///< By that, after the warm-up.
    std::size_t built = 0;           ///< Forecasters that this counts; 0: the service was ready before, not compared.
    std::size_t held_after = 0;      ///< By the whole service after the run,
    std::size_t held_before = 0;     ///< and before it.
    std::size_t process_before = 0;  ///< In memory after every request had been made once; 0: not known.
    std::size_t process_after = 0;
    std::size_t device_before = 0;  ///< In use on the device; 0: not watched.
    std::size_t device_after = 0;
};

/// A question, and whether the answer is within the thresholds.
struct StressCheck {
    std::string name;  ///< `accuracy`, `speed`, ...
    bool passed = true;
    std::string found{};  ///< In words.
    std::string limit{};  ///< What it was compared with; empty when it was not.
};

/// What a stress run saw.
struct StressReport {
    BuildIdentity build;
    std::string backend;
    Mode mode = Mode::eager;
    std::string baseline_backend;
    std::string planned_backend;      ///< Of the planned program without the tested mode; empty: none.
    Mode planned_mode = Mode::eager;  ///< Its mode.
    StressLevel level = StressLevel::quick;
    int iterations = 0;  ///< Of each case, but for those that have fewer.
    std::uint64_t seed = 0;
    StressThresholds thresholds;

    WarmUpReport warm_up;  ///< Of the service under test; without rows when it was ready before.
    std::vector<StressCase> cases;
    std::vector<StressVariate> variates;
    std::uint64_t forecasts = 0;  ///< Pairs that were compared.
    std::array<std::uint64_t, all_recapture_reasons.size()> recaptures{};
    StressMemory memory;
    std::vector<CacheCounts> caches;
    std::uint64_t failures = 0;      ///< Requests that ended with an error.
    std::string first_failure;       ///< Its message.
    std::vector<std::string> notes;  ///< What was left out, and what else is to be known, as sentences.
    std::vector<StressCheck> checks;

    [[nodiscard]] bool passed() const {
        return !checks.empty() &&
               std::all_of(checks.begin(), checks.end(), [](const StressCheck& check) { return check.passed; });
    }
    /// The check of a name; null when there is none.
    [[nodiscard]] const StressCheck* find(std::string_view check_name) const {
        const auto found = std::find_if(checks.begin(), checks.end(),
                                        [&](const StressCheck& check) { return check.name == check_name; });
        return found == checks.end() ? nullptr : &*found;
    }
    /// The deviations of all cases together.
    [[nodiscard]] Deviation deviation() const {
        Deviation all;
        for (const StressCase& one : cases) {
            all.add(one.deviation);
        }
        return all;
    }
};

}  // namespace totograph::serve
