// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/month_rule.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::optional<std::chrono::year_month_day> MonthRule::day_of(std::int64_t instant) const {
    constexpr std::int64_t hour = 3600 * nanoseconds_per_second;
    constexpr std::int64_t day_length = seconds_per_day * nanoseconds_per_second;
    const ClockTime clock = clock_time(instant, offset_seconds);
    std::chrono::sys_days date(clock.date);
    std::int64_t distance = clock.nanosecond_of_day - nanosecond_of_day;
    if (distance > day_length / 2) {
        date += std::chrono::days(1);
        distance -= day_length;
    } else if (distance < -day_length / 2) {
        date -= std::chrono::days(1);
        distance += day_length;
    }
    return std::abs(distance) <= hour ? std::optional(std::chrono::year_month_day(date)) : std::nullopt;
}

TOTOGRAPH_INLINE std::int64_t MonthRule::later(std::int64_t instant, std::int64_t count) const {
    using namespace std::chrono;
    const std::int64_t number = month_of(instant) + count;
    const std::int64_t years = number >= 0 ? number / 12 : -((11 - number) / 12);
    const year_month target(year(static_cast<int>(years)), month(static_cast<unsigned>(number - 12 * years + 1)));
    const sys_days date = day_in(target);
    return (date.time_since_epoch().count() * seconds_per_day - offset_seconds) * nanoseconds_per_second +
           nanosecond_of_day;
}

TOTOGRAPH_INLINE std::chrono::sys_days MonthRule::day_in(std::chrono::year_month target) const {
    using namespace std::chrono;
    const sys_days last(target / std::chrono::last);
    if (kind == Day::fixed) {
        const std::chrono::day last_day = year_month_day(last).day();
        return sys_days(target / std::min(std::chrono::day(day), last_day));
    }
    if (kind == Day::before_last) {
        const auto most = static_cast<unsigned>(year_month_day(last).day()) - 1;
        return last - days(std::min(day, most));
    }
    const days step(kind == Day::first_workday ? 1 : -1);
    sys_days date = kind == Day::first_workday ? sys_days(target / 1) : last;
    while (weekday(date) == Saturday || weekday(date) == Sunday) {
        date += step;
    }
    return date;
}

namespace detail {

TOTOGRAPH_INLINE void MonthDays::add(const std::chrono::year_month_day& date) {
    const auto day = static_cast<unsigned>(date.day());
    const std::chrono::weekday weekday(date);
    smallest = std::min(smallest, day);
    largest = std::max(largest, day);
    least_left = std::min(least_left, last_day_of(date) - day);
    most_left = std::max(most_left, last_day_of(date) - day);
    are_workdays = are_workdays && weekday != std::chrono::Saturday && weekday != std::chrono::Sunday;
    are_early = are_early && day <= 5;
    are_late = are_late && day + 5 > last_day_of(date);
}

}  // namespace detail

TOTOGRAPH_INLINE std::optional<MonthRule> find_month_rule(const std::vector<std::int64_t>& instants,
                                                          std::int64_t offset_seconds) {
    MonthRule rule{.offset_seconds = offset_seconds,
                   .nanosecond_of_day = clock_time(instants.back(), offset_seconds).nanosecond_of_day};
    detail::MonthDays days;
    std::vector<std::chrono::year_month_day> dates;
    std::int64_t before = 0;
    for (const std::int64_t instant : instants) {
        const std::optional<std::chrono::year_month_day> date = rule.day_of(instant);
        const std::int64_t month = rule.month_of(instant);
        if (!date || (!dates.empty() && month <= before)) {
            return std::nullopt;
        }
        before = month;
        days.add(*date);
        dates.push_back(*date);
    }
    const bool is_same_day = std::all_of(dates.begin(), dates.end(), [&](const std::chrono::year_month_day& date) {
        return static_cast<unsigned>(date.day()) == std::min(days.largest, detail::last_day_of(date));
    });
    const bool are_last = days.most_left == 0;
    if (days.smallest == days.largest || is_same_day || are_last) {
        rule.day = are_last && days.smallest != days.largest ? 31 : days.largest;
        return rule;
    }
    if (instants.size() >= 3 && days.least_left == days.most_left) {
        rule.kind = MonthRule::Day::before_last;
        rule.day = days.most_left;
        return rule;
    }
    if (instants.size() < 3 || !days.are_workdays || days.are_early == days.are_late) {
        return std::nullopt;
    }
    rule.kind = days.are_early ? MonthRule::Day::first_workday : MonthRule::Day::last_workday;
    return rule;
}

TOTOGRAPH_INLINE std::optional<std::vector<std::int64_t>> instants_of(const std::vector<std::int64_t>& times,
                                                                      std::int64_t unit) {
    constexpr std::int64_t most = 9'000'000'000'000'000'000;
    std::vector<std::int64_t> instants;
    instants.reserve(times.size());
    for (const std::int64_t time : times) {
        std::int64_t instant = 0;
        if (unit == 0 || __builtin_mul_overflow(time, unit, &instant) || instant > most || instant < -most) {
            return std::nullopt;
        }
        instants.push_back(instant);
    }
    return instants;
}

}  // namespace totograph::io
