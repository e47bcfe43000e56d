// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/month_rule.hpp>
#include <totograph/io/time/time_step.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::kronos {

namespace detail {

inline constexpr std::int64_t day_seconds = 86400;

/// The time of the week, in seconds from Monday on.
constexpr std::int64_t time_of_week(std::int64_t time) {
    constexpr std::int64_t week = 7 * day_seconds;
    constexpr std::int64_t thursday = 3 * day_seconds;  // the day on which seconds begin
    return ((time + thursday) % week + week) % week;
}

/// The same day and time in so many months; the last day of a month that is too short.
inline std::int64_t months_later(std::int64_t time, int months) {
    using namespace std::chrono;
    const sys_seconds from{seconds(time)};
    const sys_days date = floor<days>(from);
    const year_month_day calendar(date);
    const year_month month = calendar.year() / calendar.month() + std::chrono::months(months);
    const year_month_day_last last = month.year() / month.month() / std::chrono::last;
    const year_month_day moved = month.year() / month.month() / std::min(calendar.day(), last.day());
    return (sys_days(moved) + (from - date)).time_since_epoch().count();
}

/// The times behind a history whose candles are so many months apart: at the day of the month, its last one, or its
/// first or last workday, where all of them stand; else at the day of the last candle.
inline std::vector<std::int64_t> months_behind(std::span<const std::int64_t> times, int months, Index count) {
    constexpr std::int64_t second = io::nanoseconds_per_second;
    constexpr std::int64_t most = io::Clock::latest / second;
    std::vector<std::int64_t> result;
    if (times.front() >= -most && times.back() <= most) {
        std::vector<std::int64_t> instants;
        for (const std::int64_t time : times) {
            instants.push_back(time * second);
        }
        const std::optional<io::MonthRule> rule = io::find_month_rule(instants, 0);
        const io::TimeStep step{io::TimeStep::Kind::months, months, rule.value_or(io::MonthRule())};
        if (rule && step.reaches(instants.back(), count)) {
            for (Index i = 1; i <= count; ++i) {
                result.push_back(step.later(instants.back(), i) / second);
            }
            return result;
        }
    }
    for (int i = 1; i <= count; ++i) {
        result.push_back(months_later(times.back(), i * months));
    }
    return result;
}

/// The distance of neighbouring times that occurs most often; the smallest of equally frequent ones.
inline std::int64_t usual_step(std::span<const std::int64_t> times) {
    std::map<std::int64_t, std::size_t> counts;
    for (std::size_t i = 1; i < times.size(); ++i) {
        ++counts[times[i] - times[i - 1]];
    }
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

/// The latest time of a history that lies on the grid of its steps. Where a tenth of the times at most lie beside that,
/// they are of candles that were not over, or late, and the history does not go on from there.
inline std::int64_t latest_on_grid(std::span<const std::int64_t> times, std::int64_t step) {
    const auto phase_of = [&](std::int64_t time) { return (time % step + step) % step; };
    std::map<std::int64_t, std::size_t> counts;
    for (const std::int64_t time : times) {
        ++counts[phase_of(time)];
    }
    const auto usual = std::max_element(counts.begin(), counts.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    const bool is_grid = 10 * (times.size() - usual->second) <= times.size();
    return is_grid ? times.back() - phase_of(times.back() - usual->first) : times.back();
}

}  // namespace detail

/// Times of `count` candles behind a history, which a Kronos model wants to know: the usual step, without nights,
/// weekends and breaks where the history shows them. Of at least two weeks, times of the week that it never has are
/// left out; of at least two days, times of the day. Behind a last candle beside the grid of the others, such as one
/// that is not over, the next one of the grid follows. Steps of 28 days and more are whole months, to the last day or
/// the first or last workday where all candles stand there. Holidays cannot be told.
///
/// @param times  ascending, in seconds of wall time
/// Throws `Error` (`invalid_series`) for fewer than two times, or times that do not ascend.
inline std::vector<std::int64_t> future_times(std::span<const std::int64_t> times, Index count) {
    if (times.size() < 2 || std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) != times.end()) {
        throw Error(ErrorCode::invalid_series,
                    "future_times: the times of a history should ascend, and be two or more, to go on from; found " +
                        std::to_string(times.size()) + ".");
    }
    const std::int64_t step = detail::usual_step(times);
    if (step >= 28 * detail::day_seconds) {
        constexpr std::int64_t month = 2629746;  // a twelfth of the mean year, in seconds
        const auto months = static_cast<int>((step + month / 2) / month);
        return detail::months_behind(times, months, count);
    }
    const std::int64_t span = times.back() - times.front();
    const std::int64_t period = span >= 14 * detail::day_seconds  ? 7 * detail::day_seconds
                                : span >= 2 * detail::day_seconds ? detail::day_seconds
                                                                  : 1;
    const auto place = [&](std::int64_t time) { return detail::time_of_week(time) % period; };
    std::set<std::int64_t> seen;
    for (const std::int64_t time : times) {
        seen.insert(place(time));
    }
    std::vector<std::int64_t> result;
    std::int64_t time = detail::latest_on_grid(times, step);
    while (static_cast<Index>(result.size()) < count) {
        const std::int64_t before = time;
        const std::int64_t reach = before + period + step;
        do {
            time += step;
        } while (!seen.contains(place(time)) && time < reach);
        // A step that never meets a place again, such as that of a history without a rhythm.
        time = seen.contains(place(time)) ? time : before + step;
        result.push_back(time);
    }
    return result;
}

}  // namespace totograph::kronos
