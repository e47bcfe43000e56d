// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {

/// Where in their months rows stand that are whole months apart, on a clock `offset_seconds` ahead of UTC.
struct MonthRule {
    enum class Day {
        fixed,          ///< `day`, or the last one of a month that lacks it.
        first_workday,  ///< The first day from Monday to Friday; a holiday may delay it.
        last_workday    ///< The last one; a holiday may come before it.
    };

    Day kind = Day::fixed;
    unsigned day = 1;
    std::int64_t offset_seconds = 0;
    std::int64_t nanosecond_of_day = 0;

    /// The day that a row stands on. Its time of day may be an hour off: daylight saving moves the clock of a zone, and
    /// all rows are read on the clock of the last one.
    [[nodiscard]] std::optional<std::chrono::year_month_day> day_of(std::int64_t instant) const {
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

    /// The number of a row's month, counted through the years.
    [[nodiscard]] std::int64_t month_of(std::int64_t instant) const {
        const std::chrono::year_month_day date = day_of(instant).value_or(clock_time(instant, offset_seconds).date);
        return static_cast<int>(date.year()) * std::int64_t{12} + static_cast<unsigned>(date.month()) - 1;
    }

    /// The instant of the row `count` months after that of an instant.
    [[nodiscard]] std::int64_t later(std::int64_t instant, std::int64_t count) const {
        using namespace std::chrono;
        const std::int64_t number = month_of(instant) + count;
        const std::int64_t years = number >= 0 ? number / 12 : -((11 - number) / 12);
        const year_month target(year(static_cast<int>(years)), month(static_cast<unsigned>(number - 12 * years + 1)));
        const sys_days date = day_in(target);
        return (date.time_since_epoch().count() * seconds_per_day - offset_seconds) * nanoseconds_per_second +
               nanosecond_of_day;
    }

private:
    [[nodiscard]] std::chrono::sys_days day_in(std::chrono::year_month target) const {
        using namespace std::chrono;
        const sys_days last(target / std::chrono::last);
        if (kind == Day::fixed) {
            const std::chrono::day last_day = year_month_day(last).day();
            return sys_days(target / std::min(std::chrono::day(day), last_day));
        }
        const days step(kind == Day::first_workday ? 1 : -1);
        sys_days date = kind == Day::first_workday ? sys_days(target / 1) : last;
        while (weekday(date) == Saturday || weekday(date) == Sunday) {
            date += step;
        }
        return date;
    }
};

namespace detail {

inline unsigned last_day_of(const std::chrono::year_month_day& date) {
    return static_cast<unsigned>(
        std::chrono::year_month_day_last(date.year(), std::chrono::month_day_last(date.month())).day());
}

/// What the days of rows have in common.
struct MonthDays {
    unsigned smallest = 31;
    unsigned largest = 0;
    bool are_last = true;      // of their months
    bool are_workdays = true;  // from Monday to Friday
    bool are_early = true;     // within the first five days of their months
    bool are_late = true;      // within the last five

    void add(const std::chrono::year_month_day& date) {
        const auto day = static_cast<unsigned>(date.day());
        const std::chrono::weekday weekday(date);
        smallest = std::min(smallest, day);
        largest = std::max(largest, day);
        are_last = are_last && day == last_day_of(date);
        are_workdays = are_workdays && weekday != std::chrono::Saturday && weekday != std::chrono::Sunday;
        are_early = are_early && day <= 5;
        are_late = are_late && day + 5 > last_day_of(date);
    }
};

}  // namespace detail

/// The rule that rows follow which come once in a month, or in several, in the order of time: the same day, the last
/// day, or (of three rows and more) the first or the last workday. Nothing where there is none.
inline std::optional<MonthRule> find_month_rule(const std::vector<std::int64_t>& instants,
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
    if (days.smallest == days.largest || is_same_day || days.are_last) {
        rule.day = days.are_last && days.smallest != days.largest ? 31 : days.largest;
        return rule;
    }
    if (instants.size() < 3 || !days.are_workdays || days.are_early == days.are_late) {
        return std::nullopt;
    }
    rule.kind = days.are_early ? MonthRule::Day::first_workday : MonthRule::Day::last_workday;
    return rule;
}

}  // namespace totograph::io
