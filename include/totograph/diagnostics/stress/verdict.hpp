// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <totograph/diagnostics/stress/deviation.hpp>
#include <totograph/diagnostics/stress/report.hpp>
#include <totograph/diagnostics/stress/thresholds.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

namespace detail {

inline StressCheck check_requests(const StressReport& report) {
    StressCheck check{"requests", report.failures == 0 && report.forecasts > 0,
                      std::to_string(report.forecasts) + " pairs of forecasts", "no errors, and at least one pair"};
    if (report.failures > 0) {
        check.found += ", " + totograph::detail::count_text(report.failures, "error", "errors") +
                       "; the first: " + report.first_failure;
    }
    return check;
}

inline StressCheck check_finite(const StressReport& report) {
    const Deviation all = report.deviation();
    return {"finite", all.not_finite == 0, std::to_string(all.not_finite) + " values that are not finite", "0"};
}

inline StressCheck check_accuracy(const StressReport& report) {
    using totograph::detail::number_text;
    const StressThresholds& thresholds = report.thresholds;
    StressCheck check{"accuracy"};
    Deviation largest = report.cases.empty() ? Deviation{} : report.cases.front().deviation;
    double worst_step = 0;
    for (const StressCase& one : report.cases) {
        Deviation deviation = one.deviation;
        deviation.not_finite = 0;  // asked by itself
        check.passed = check.passed && deviation.is_within(thresholds);
        worst_step = std::max(worst_step, deviation.worst_step);
        if (deviation.mae() - 2 * deviation.scatter() > largest.mae() - 2 * largest.scatter()) {
            largest = deviation;
        }
    }
    double worst = 0;
    std::string where;
    for (const StressVariate& variate : report.variates) {
        if (variate.deviation.worst_mae > worst) {
            worst = variate.deviation.worst_mae;
            where = variate.name + " of " + variate.data;
        }
    }
    const bool is_beyond = thresholds.compared == Compared::summaries;
    check.found =
        "the largest mean deviation is " + number_text(largest.mae(), 3) + " of a size of requests" +
        (largest.scatter() > 0 ? ", where medians of so few samples scatter by " + number_text(largest.scatter(), 3)
                               : "") +
        (is_beyond ? "; beyond what medians scatter, " : ", ") + number_text(worst, 3) +
        " of one variate in one forecast" + (where.empty() ? "" : " (" + where + ")") + ", " +
        number_text(worst_step, 3) + " of one step";
    check.limit = number_text(thresholds.mae, 3) + (is_beyond ? " beyond twice the scatter, " : ", ") +
                  number_text(thresholds.worst * thresholds.mae, 3) + " and " +
                  number_text(thresholds.worst_step * thresholds.mae, 3) + " of the series' scale";
    return check;
}

inline StressCheck check_jumps(const StressReport& report) {
    if (report.thresholds.compared == Compared::summaries) {
        return {"jumps", true, "medians are compared, not the futures", ""};
    }
    Jumps all;
    StressCheck check{"jumps"};
    std::string faults;
    for (const StressCase& one : report.cases) {
        all.add(one.jumps);
        const std::string fault = one.jumps.fault(report.thresholds);
        if (!fault.empty() && check.passed) {
            check.passed = false;
            faults = ", " + fault + " of " + to_string(one.sizes);
        }
    }
    // Two may always jump, but not two of each size.
    if (check.passed && !all.fault(report.thresholds).empty()) {
        check.passed = false;
        faults = ", too many of all sizes together";
    }
    check.found = std::to_string(all.jumped()) + " of " + std::to_string(all.futures()) +
                  " sampled futures drew another component" + faults;
    check.limit = "after " + totograph::detail::number_text(report.thresholds.jumps, 3) + " of drawn values, " +
                  totograph::detail::number_text(report.thresholds.jumped_futures, 3) + " of futures";
    return check;
}

inline StressCheck check_repeats(const StressReport& report) {
    const auto wrong =
        std::find_if(report.cases.begin(), report.cases.end(), [](const StressCase& one) { return !one.repeats; });
    return {"repeats", wrong == report.cases.end(),
            wrong == report.cases.end() ? "a request that is repeated gives the same bits"
                                        : "the request " + to_string(wrong->sizes) + " gave other bits when repeated",
            "the same bits"};
}

inline StressCheck check_recaptures(const StressReport& report) {
    std::uint64_t all = 0;
    std::string reasons;
    for (const RecaptureReason reason : all_recapture_reasons) {
        const std::uint64_t count = report.recaptures[static_cast<std::size_t>(reason)];
        all += count;
        if (count > 0) {
            reasons += (reasons.empty() ? ": " : ", ") + std::to_string(count) + " " + std::string(name(reason));
        }
    }
    return {"recaptures", all <= report.thresholds.recaptures, std::to_string(all) + " after warm-up" + reasons,
            std::to_string(report.thresholds.recaptures)};
}

inline StressCheck check_speed(const StressReport& report) {
    using totograph::detail::number_text;
    if (report.mode == Mode::eager && report.backend == report.baseline_backend) {
        return {"speed", true, "the mode under test is the baseline", ""};
    }
    if (report.planned_backend.empty() ||
        (report.mode == report.planned_mode && report.backend == report.planned_backend)) {
        return {"speed", true, "the mode under test is the planned program itself", ""};
    }
    const auto least = [](const StressCase& one) { return one.ratios.quantile(0.25); };
    const auto slowest =
        std::max_element(report.cases.begin(), report.cases.end(),
                         [&](const StressCase& a, const StressCase& b) { return least(a) < least(b); });
    if (slowest == report.cases.end() || slowest->ratios.count() == 0) {
        return {"speed", true, "nothing was timed", ""};
    }
    return {"speed", least(*slowest) <= report.thresholds.slowest,
            number_text(slowest->ratios.median(), 3) + " of the latency in mode " +
                std::string(name(report.planned_mode)) + " where it is slowest, " + to_string(slowest->sizes) +
                "; quartiles " + number_text(least(*slowest), 3) + " and " +
                number_text(slowest->ratios.quantile(0.75), 3),
            number_text(report.thresholds.slowest, 3) + " for the lower quartile"};
}

inline StressCheck check_planned_memory(const StressReport& report) {
    const StressMemory& memory = report.memory;
    if (memory.built == 0) {
        return {"memory", true, "the service was ready before: what it holds was not compared with the plan", ""};
    }
    const auto allowed = static_cast<std::size_t>(report.thresholds.memory * static_cast<double>(memory.planned)) +
                         report.thresholds.memory_slack * memory.built;
    return {"memory", memory.held <= allowed,
            totograph::detail::bytes_text(memory.held) + " held, " + totograph::detail::bytes_text(memory.planned) +
                " planned",
            totograph::detail::bytes_text(allowed)};
}

/// The growth of the process, of the device and of the service itself, which must not grow at all.
inline StressCheck check_growth(const StressReport& report) {
    const StressMemory& memory = report.memory;
    const auto growth = [](std::size_t before, std::size_t after) { return after > before ? after - before : 0; };
    const std::size_t service = growth(memory.held_before, memory.held_after);
    const std::size_t process = memory.process_before == 0 ? 0 : growth(memory.process_before, memory.process_after);
    const std::size_t device = memory.device_before == 0 ? 0 : growth(memory.device_before, memory.device_after);
    // Of each pair, the service makes one and repeats it.
    const auto text = [](std::size_t bytes) { return totograph::detail::bytes_text(bytes); };
    const auto told = [&](std::size_t bytes) {
        return text(bytes) + (bytes == 0 || report.forecasts == 0
                                  ? ""
                                  : " (" + text(bytes / (2 * report.forecasts)) + " a forecast)");
    };
    return {"growth", service == 0 && process <= report.thresholds.growth && device <= report.thresholds.growth,
            "while requests repeated, the service grew by " + text(service) +
                (memory.process_before == 0 ? "" : ", the process by " + told(process)) +
                (memory.device_before == 0 ? "" : ", what is used on the device by " + told(device)),
            "0 of the service, " + text(report.thresholds.growth) + " of the others"};
}

inline StressCheck check_caches(const StressReport& report) {
    std::uint64_t ignored = 0;
    std::string found;
    for (const CacheCounts& cache : report.caches) {
        ignored += cache.ignored;
        found +=
            (found.empty() ? "" : "; ") + cache.name + ": " + std::to_string(cache.hits) + " hits, " +
            std::to_string(cache.misses) + " misses" +
            (cache.ignored == 0 ? ""
                                : ", " + std::to_string(cache.ignored) + " files ignored (" + cache.last_reason + ")");
    }
    return {"caches", ignored <= report.thresholds.ignored_caches, found.empty() ? "none used" : found,
            std::to_string(report.thresholds.ignored_caches) + " files ignored"};
}

}  // namespace detail

/// The checks of a run: `requests`, `finite`, `accuracy`, `jumps`, `repeats`, `recaptures`, `speed`, `memory`,
/// `growth`, `caches`.
inline std::vector<StressCheck> judge(const StressReport& report) {
    return {detail::check_requests(report), detail::check_finite(report),         detail::check_accuracy(report),
            detail::check_jumps(report),    detail::check_repeats(report),        detail::check_recaptures(report),
            detail::check_speed(report),    detail::check_planned_memory(report), detail::check_growth(report),
            detail::check_caches(report)};
}

}  // namespace totograph::serve
