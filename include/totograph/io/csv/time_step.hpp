// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "totograph/io/csv/clock.hpp"
#include "totograph/io/csv/timestamp.hpp"

namespace totograph::io {

/// How far apart rows are in time.
struct TimeStep {
    enum class Kind { uneven, even, months };

    Kind kind = Kind::uneven;
    std::int64_t length = 0;  ///< As `Clock::times` count, or whole months; 0 for `uneven`.
};

/// An instant moved by whole months on a clock `offset_seconds` ahead of UTC; days that a month lacks become its last.
/// `day` is the day to aim at, which the instant's own month may have lacked; 0: the instant's own.
inline std::int64_t add_months(std::int64_t instant, std::int64_t count, std::int64_t offset_seconds,
                               unsigned day = 0) {
    using namespace std::chrono;
    const ClockTime clock = clock_time(instant, offset_seconds);
    const year_month target = year_month(clock.date.year(), clock.date.month()) + months(static_cast<int>(count));
    const year_month_day_last last_day(target.year(), month_day_last(target.month()));
    const std::chrono::day wanted = day > 0 ? std::chrono::day(day) : clock.date.day();
    const year_month_day date(target.year(), target.month(), std::min(wanted, last_day.day()));
    const std::int64_t day_number = sys_days(date).time_since_epoch().count();
    return (day_number * seconds_per_day - offset_seconds) * nanoseconds_per_second + clock.nanosecond_of_day;
}

/// The number of a month, counted through the years.
inline std::int64_t month_number(std::int64_t instant, std::int64_t offset_seconds) {
    const ClockTime clock = clock_time(instant, offset_seconds);
    return static_cast<int>(clock.date.year()) * std::int64_t{12} + static_cast<unsigned>(clock.date.month());
}

namespace detail {

inline bool is_last_of_month(const std::chrono::year_month_day& date) {
    return date.day() == std::chrono::year_month_day_last(date.year(), std::chrono::month_day_last(date.month())).day();
}

/// The months between neighbours where all rows stand on the same day and time of their months and are whole multiples
/// of the shortest interval apart; else 0.
inline std::int64_t month_step(const std::vector<std::int64_t>& instants, std::int64_t offset_seconds) {
    const ClockTime first = clock_time(instants[0], offset_seconds);
    std::int64_t shortest = 0;
    for (std::size_t i = 1; i < instants.size(); ++i) {
        const ClockTime clock = clock_time(instants[i], offset_seconds);
        const bool same_day =
            clock.date.day() == first.date.day() || (is_last_of_month(first.date) && is_last_of_month(clock.date));
        const std::int64_t months =
            month_number(instants[i], offset_seconds) - month_number(instants[i - 1], offset_seconds);
        if (!same_day || clock.nanosecond_of_day != first.nanosecond_of_day || months <= 0) {
            return 0;
        }
        shortest = shortest == 0 ? months : std::min(shortest, months);
    }
    for (std::size_t i = 1; i < instants.size(); ++i) {
        const std::int64_t months =
            month_number(instants[i], offset_seconds) - month_number(instants[i - 1], offset_seconds);
        if (months % shortest != 0) {
            return 0;
        }
    }
    return shortest;
}

}  // namespace detail

/// The usual interval between times: whole months where all agree on one, else the most frequent one of those within a
/// tenth of the median one, when half of all are (a recorder may be late, or skip a beat). The times must all be known.
inline TimeStep find_time_step(const Clock& clock) {
    if (!clock.is_known() || clock.times.size() < 2) {
        return {};
    }
    if (clock.kind == Clock::Kind::instants) {
        if (const std::int64_t months = detail::month_step(clock.times, clock.style.offset_seconds)) {
            return {TimeStep::Kind::months, months};
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
    return {TimeStep::Kind::even, step};
}

}  // namespace totograph::io
