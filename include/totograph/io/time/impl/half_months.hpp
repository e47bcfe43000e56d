// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/half_months.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/month_rule.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE bool are_half_months_apart(const std::vector<std::int64_t>& instants) {
    constexpr std::int64_t day = seconds_per_day * nanoseconds_per_second;
    constexpr std::int64_t hour = day / 24;  // by which daylight saving moves the clock
    bool are_fortnights = true;
    for (std::size_t row = 1; row < instants.size(); ++row) {
        const std::int64_t distance = time_between(instants[row - 1], instants[row]);
        if (distance < shortest_half_month) {
            return false;
        }
        are_fortnights = are_fortnights && distance >= 14 * day - hour && distance <= 14 * day + hour;
    }
    return !are_fortnights;
}

TOTOGRAPH_INLINE std::optional<MonthRule> second_rule(const std::vector<std::chrono::year_month_day>& dates,
                                                      MonthRule first) {
    unsigned largest = 0;
    unsigned least_left = 31;  // days of their months behind the later ones
    unsigned most_left = 0;
    for (const std::chrono::year_month_day& date : dates) {
        const auto day = static_cast<unsigned>(date.day());
        largest = std::max(largest, day);
        if (day != first.day) {
            least_left = std::min(least_left, last_day_of(date) - day);
            most_left = std::max(most_left, last_day_of(date) - day);
        }
    }
    const bool is_rule = std::all_of(dates.begin(), dates.end(), [&](const std::chrono::year_month_day& date) {
        const auto day = static_cast<unsigned>(date.day());
        return day == first.day || day == std::min(largest, last_day_of(date));
    });
    constexpr unsigned shortest_month = 28;
    // The last days of a zone that are told on another clock may be those before.
    if (!is_rule && least_left == 1 && most_left == 1 && first.day + most_left < shortest_month) {
        first.kind = MonthRule::Day::before_last;
        first.day = most_left;
        return first;
    }
    if (!is_rule || first.day >= std::min(largest, shortest_month)) {
        return std::nullopt;
    }
    first.day = most_left == 0 ? 31 : largest;
    return first;
}

}  // namespace detail

TOTOGRAPH_INLINE std::int64_t HalfMonths::place_of(std::int64_t instant) const {
    const std::chrono::year_month_day date =
        first.day_of(instant).value_or(clock_time(instant, first.offset_seconds).date);
    return 2 * first.month_of(instant) + (static_cast<unsigned>(date.day()) > first.day ? 1 : 0);
}

TOTOGRAPH_INLINE std::int64_t HalfMonths::later(std::int64_t instant, std::int64_t count) const {
    const std::int64_t place = place_of(instant) + count;
    const std::int64_t half = place & 1;
    return (half == 0 ? first : second).later(instant, (place - half) / 2 - first.month_of(instant));
}

TOTOGRAPH_INLINE std::optional<HalfMonths> find_half_months(const std::vector<std::int64_t>& instants,
                                                            std::int64_t offset_seconds) {
    if (instants.size() < 4 || !detail::are_half_months_apart(instants)) {
        return std::nullopt;
    }
    MonthRule first{.day = 31,
                    .offset_seconds = offset_seconds,
                    .nanosecond_of_day = clock_time(instants.back(), offset_seconds).nanosecond_of_day};
    std::vector<std::chrono::year_month_day> dates;
    for (const std::int64_t instant : instants) {
        const std::optional<std::chrono::year_month_day> date = first.day_of(instant);
        if (!date) {
            return std::nullopt;
        }
        dates.push_back(*date);
    }
    for (const std::chrono::year_month_day& date : dates) {
        first.day = std::min(first.day, static_cast<unsigned>(date.day()));
    }
    const std::optional<MonthRule> second = detail::second_rule(dates, first);
    if (!second) {
        return std::nullopt;
    }
    const HalfMonths halves{first, *second};
    std::int64_t shortest = 2;
    for (std::size_t row = 1; row < instants.size(); ++row) {
        shortest = std::min(shortest, halves.place_of(instants[row]) - halves.place_of(instants[row - 1]));
    }
    return shortest == 1 ? std::optional(halves) : std::nullopt;
}

}  // namespace totograph::io
