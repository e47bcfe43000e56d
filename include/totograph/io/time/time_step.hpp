// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/month_rule.hpp>

namespace totograph::io {

/// How far apart rows are in time.
struct TimeStep {
    enum class Kind { uneven, even, months };

    Kind kind = Kind::uneven;
    std::int64_t length = 0;  ///< As `Clock::times` count, or whole months; 0 for `uneven`.
    MonthRule months{};       ///< Where in its month a row stands; for `months` only.

    /// The time of the row `count` steps after that of `time`.
    [[nodiscard]] std::int64_t later(std::int64_t time, std::int64_t count) const {
        return kind == Kind::months ? months.later(time, count * length) : time + count * length;
    }
};

namespace detail {

/// The months between neighbours where all are whole multiples of the shortest interval apart; else 0.
inline std::int64_t month_step(const std::vector<std::int64_t>& instants, const MonthRule& rule) {
    std::vector<std::int64_t> intervals;
    for (std::size_t i = 1; i < instants.size(); ++i) {
        intervals.push_back(rule.month_of(instants[i]) - rule.month_of(instants[i - 1]));
    }
    const std::int64_t shortest = *std::min_element(intervals.begin(), intervals.end());
    const bool is_even = std::all_of(intervals.begin(), intervals.end(),
                                     [&](std::int64_t interval) { return interval % shortest == 0; });
    return is_even ? shortest : 0;
}

}  // namespace detail

/// The usual interval between times: whole months where all agree on one, else the most frequent one of those within a
/// tenth of the median one, when half of all are (a recorder may be late, or skip a beat). The times must all be known.
inline TimeStep find_time_step(const Clock& clock) {
    if (!clock.is_known() || clock.times.size() < 2) {
        return {};
    }
    if (clock.kind == Clock::Kind::instants) {
        if (const std::optional<MonthRule> rule = find_month_rule(clock.times, clock.style.offset_seconds)) {
            if (const std::int64_t months = detail::month_step(clock.times, *rule)) {
                return {TimeStep::Kind::months, months, *rule};
            }
        }
    }
    std::vector<std::int64_t> differences;
    differences.reserve(clock.times.size() - 1);
    for (std::size_t i = 1; i < clock.times.size(); ++i) {
        differences.push_back(time_between(clock.times[i - 1], clock.times[i]));
    }
    std::sort(differences.begin(), differences.end());
    const std::int64_t median = differences[differences.size() / 2];
    if (median <= 0) {
        return {};
    }
    const auto first = std::lower_bound(differences.begin(), differences.end(), median - median / 10);
    const auto last =
        std::upper_bound(first, differences.end(), median + std::min(median / 10, Clock::latest - median));
    if (2 * (last - first) < static_cast<std::ptrdiff_t>(differences.size())) {
        return {};
    }
    std::int64_t step = median;
    std::ptrdiff_t most = 1;
    for (auto run = first; run != last;) {
        const auto end = std::upper_bound(run, last, *run);
        step = end - run > most ? *run : step;
        most = std::max(most, end - run);
        run = end;
    }
    return {.kind = TimeStep::Kind::even, .length = step};
}

}  // namespace totograph::io
