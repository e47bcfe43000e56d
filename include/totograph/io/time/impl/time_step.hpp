// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/time_step.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/half_months.hpp>
#include <totograph/io/time/month_rule.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE std::int64_t month_step(const std::vector<std::int64_t>& instants, const MonthRule& rule) {
    std::vector<std::int64_t> intervals;
    for (std::size_t i = 1; i < instants.size(); ++i) {
        intervals.push_back(rule.month_of(instants[i]) - rule.month_of(instants[i - 1]));
    }
    const std::int64_t shortest = *std::min_element(intervals.begin(), intervals.end());
    const bool is_even = std::all_of(intervals.begin(), intervals.end(),
                                     [&](std::int64_t interval) { return interval % shortest == 0; });
    return is_even ? shortest : 0;
}

TOTOGRAPH_INLINE TimeStep calendar_step(const Clock& clock) {
    const std::int64_t unit = clock.kind == Clock::Kind::instants ? 1 : clock.epoch_unit;
    // As of most clocks, which are long.
    constexpr std::int64_t day = seconds_per_day * nanoseconds_per_second;
    const std::int64_t first = time_between(clock.times[0], clock.times[1]);
    if (unit == 0 || first < shortest_half_month / unit) {
        return {};
    }
    const std::optional<std::vector<std::int64_t>> instants = instants_of(clock.times, unit);
    if (!instants) {
        return {};
    }
    const std::int64_t offset = clock.kind == Clock::Kind::instants ? clock.style.offset_seconds : 0;
    const std::optional<MonthRule> rule = first < 20 * day / unit ? std::nullopt : find_month_rule(*instants, offset);
    if (const std::int64_t months = rule ? month_step(*instants, *rule) : 0) {
        return {.kind = TimeStep::Kind::months, .length = months, .months = *rule, .unit = unit};
    }
    if (const std::optional<HalfMonths> halves = find_half_months(*instants, offset)) {
        constexpr std::int64_t seconds_per_year = 31'556'952;  // 365.2425 days
        constexpr std::int64_t mean = seconds_per_year / 24 * nanoseconds_per_second;
        return {.kind = TimeStep::Kind::half_months, .length = mean / unit, .halves = *halves, .unit = unit};
    }
    return {};
}

TOTOGRAPH_INLINE void find_turns(TimeStep& step, const std::vector<std::int64_t>& times,
                                 std::span<const std::int64_t> alike) {
    const std::int64_t turn = alike.back() - alike.front();
    const auto is_inner = [&](std::int64_t each) { return each != alike.front() && each != alike.back(); };
    constexpr std::ptrdiff_t fewest = 4;  // one is a clock that was set, as where daylight saving begins
    const auto shorter = std::count(alike.begin(), alike.end(), alike.front());
    const auto longer = static_cast<std::ptrdiff_t>(alike.size()) - shorter;
    if (std::min(shorter, longer) < fewest || std::any_of(alike.begin(), alike.end(), is_inner)) {
        return;
    }
    const auto length = static_cast<double>(step.length);
    const double usual = static_cast<double>(alike.front()) +
                         static_cast<double>(longer) / static_cast<double>(alike.size()) * static_cast<double>(turn);
    const auto from_first = [&](std::size_t row) { return static_cast<double>(time_between(times[0], times[row])); };
    std::vector<double> steps(times.size());  // from the first row; those of a long gap are many
    for (std::size_t row = 1; row < times.size(); ++row) {
        steps[row] = steps[row - 1] + std::round(static_cast<double>(time_between(times[row - 1], times[row])) / usual);
    }
    if (steps.back() <= 0) {
        return;  // rows as they stand may end where they began
    }
    const double mean = from_first(times.size() - 1) / steps.back();
    const double most = 1.000001 * static_cast<double>(turn);
    for (std::size_t row = 0; row < times.size(); ++row) {
        if (!(std::abs(from_first(row) - steps[row] * mean) <= most)) {
            return;
        }
    }
    // The rounding of all rows tells more than that of the first and the last one.
    std::vector<double> turns(times.size());
    for (std::size_t row = 0; row < times.size(); ++row) {
        turns[row] = (from_first(row) - steps[row] * length) / static_cast<double>(turn);
    }
    std::tie(step.turns_a_step, step.phase) = line_through(steps, turns);
    step.turn = turn;
    step.first = times[0];
}

TOTOGRAPH_INLINE std::pair<double, double> line_through(std::span<const double> x, std::span<const double> y) {
    const auto count = static_cast<double>(x.size());
    const double middle = std::accumulate(x.begin(), x.end(), 0.0) / count;
    const double level = std::accumulate(y.begin(), y.end(), 0.0) / count;
    double along = 0;
    double across = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        along += (x[i] - middle) * (x[i] - middle);
        across += (x[i] - middle) * (y[i] - level);
    }
    const double rise = across / along;
    return {rise, level - rise * middle};
}

}  // namespace detail

TOTOGRAPH_INLINE TimeStep find_time_step(const Clock& clock) {
    if (!clock.is_known() || clock.times.size() < 2) {
        return {};
    }
    if (TimeStep calendar = detail::calendar_step(clock); calendar.kind != TimeStep::Kind::uneven) {
        return calendar;
    }
    std::vector<std::int64_t> differences;
    differences.reserve(clock.times.size() - 1);
    for (std::size_t i = 1; i < clock.times.size(); ++i) {
        differences.push_back(time_between(clock.times[i - 1], clock.times[i]));
    }
    std::sort(differences.begin(), differences.end());
    // The lower one of two: a longer interval may be several steps, a shorter one is no part of a step.
    const std::int64_t median = differences[(differences.size() - 1) / 2];
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
    TimeStep result{.kind = TimeStep::Kind::even, .length = step};
    detail::find_turns(result, clock.times, {first, last});
    return result;
}

}  // namespace totograph::io
