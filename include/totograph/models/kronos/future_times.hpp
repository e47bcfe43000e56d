// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/month_step.hpp>
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

/// 400 years, in which the calendar comes again, its weekdays as well.
inline constexpr std::int64_t calendar_cycle = 146097 * day_seconds;

/// The whole cycles of the calendar before a time, counted from the year 1800 on: without them it is one that is
/// counted in nanoseconds, and so are a hundred years before it.
constexpr std::int64_t cycles_before(std::int64_t time) {
    constexpr std::int64_t first = -62091 * day_seconds;  // 1800-01-01
    const std::int64_t distance = time - first;
    return (distance / calendar_cycle - (distance % calendar_cycle < 0 ? 1 : 0)) * calendar_cycle;
}

/// The times behind a history whose candles are whole months apart; nothing for another one.
inline std::optional<std::vector<std::int64_t>> months_behind(std::span<const std::int64_t> times, Index count) {
    constexpr std::int64_t second = io::nanoseconds_per_second;
    constexpr std::int64_t most = io::Clock::latest / second;
    const std::int64_t cycles = cycles_before(times.back());
    std::vector<std::int64_t> instants;
    for (const std::int64_t time : times) {
        if (time - cycles >= -most) {
            instants.push_back((time - cycles) * second);
        }
    }
    const std::optional<io::MonthStep> months = io::find_month_step(instants, 0);
    constexpr std::int64_t longest = 50 * 12;  // behind a cycle are so many years that are counted in nanoseconds
    if (!months || months->step.length > longest || !months->reaches(1)) {
        return std::nullopt;
    }
    std::vector<std::int64_t> result;
    for (std::int64_t time = months->later(1) / second + cycles; static_cast<Index>(result.size()) < count;) {
        result.push_back(time);
        const std::int64_t before = cycles_before(time);
        time = months->step.later((time - before) * second, 1) / second + before;
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

/// Which days of the week are a Saturday or a Sunday that lies whole in a history and has no candle, counted from
/// Monday.
inline std::array<bool, 7> days_off(std::span<const std::int64_t> times) {
    constexpr std::int64_t week = 7 * day_seconds;
    std::array<bool, 7> has_candle{};
    for (const std::int64_t time : times) {
        has_candle[static_cast<std::size_t>(time_of_week(time) / day_seconds)] = true;
    }
    std::array<bool, 7> off{};
    for (const std::size_t day : {5U, 6U}) {
        const std::int64_t begin = static_cast<std::int64_t>(day) * day_seconds;
        const std::int64_t until = (begin - time_of_week(times.front()) + week) % week;  // it begins
        off[day] = !has_candle[day] && times.back() - times.front() >= until + day_seconds;
    }
    return off;
}

}  // namespace detail

/// Times of `count` candles behind a history, which a Kronos model wants to know: the usual step, without nights,
/// weekends and breaks where the history shows them. Of at least two weeks, times of the week that it never has are
/// left out; of at least two days, times of the day; and of any one with steps of a day or less, Saturdays and Sundays
/// where one of them passed without a candle, and none had any. Behind a last candle beside the grid of the others,
/// such as one that is not over, the next one of the grid follows. Steps of 28 days and more are whole months, unless
/// they are equal and no calendar's: to the last day or the first or last workday where all candles, or all but one,
/// stand there (`io::find_month_step`). Holidays cannot be told.
///
/// @param times  ascending, in seconds of wall time
/// Throws `Error` (`invalid_series`) for fewer than two times, or times that do not ascend.
inline std::vector<std::int64_t> future_times(std::span<const std::int64_t> times, Index count) {
    if (times.size() < 2 || std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) != times.end()) {
        throw Error(ErrorCode::invalid_series,
                    "future_times: the times of a history should ascend, and be two or more, to go on from; found " +
                        std::to_string(times.size()) + ".");
    }
    if (std::optional<std::vector<std::int64_t>> months = detail::months_behind(times, count)) {
        return std::move(*months);
    }
    const std::int64_t step = detail::usual_step(times);
    const std::int64_t span = times.back() - times.front();
    const std::int64_t period = span >= 14 * detail::day_seconds  ? 7 * detail::day_seconds
                                : span >= 2 * detail::day_seconds ? detail::day_seconds
                                                                  : 1;
    const auto place = [&](std::int64_t time) { return detail::time_of_week(time) % period; };
    std::set<std::int64_t> seen;
    for (const std::int64_t time : times) {
        seen.insert(place(time));
    }
    const std::array<bool, 7> off = step <= detail::day_seconds ? detail::days_off(times) : std::array<bool, 7>{};
    const auto is_open = [&](std::int64_t time) {
        return seen.contains(place(time)) &&
               !off[static_cast<std::size_t>(detail::time_of_week(time) / detail::day_seconds)];
    };
    constexpr std::int64_t weekend = 2 * detail::day_seconds;
    std::vector<std::int64_t> result;
    std::int64_t time = detail::latest_on_grid(times, step);
    while (static_cast<Index>(result.size()) < count) {
        const std::int64_t before = time;
        const std::int64_t reach = before + period + weekend + step;
        do {
            time += step;
        } while (!is_open(time) && time < reach);
        // A step that never meets a place again, such as that of a history without a rhythm.
        time = is_open(time) ? time : before + step;
        result.push_back(time);
    }
    return result;
}

}  // namespace totograph::kronos
