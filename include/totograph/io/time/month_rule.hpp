// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {

/// Where in their months rows stand that are whole months apart, on a clock `offset_seconds` ahead of UTC.
struct MonthRule {
    enum class Day {
        fixed,          ///< `day`, or the last one of a month that lacks it.
        before_last,    ///< `day` days before the last one, as where a zone's last days are told on another clock.
        first_workday,  ///< The first day from Monday to Friday; a holiday may delay it.
        last_workday    ///< The last one; a holiday may come before it.
    };

    Day kind = Day::fixed;
    unsigned day = 1;
    std::int64_t offset_seconds = 0;
    std::int64_t nanosecond_of_day = 0;

    /// The day that a row stands on. Its time of day may be an hour off: daylight saving moves the clock of a zone, and
    /// all rows are read on the clock of the last one.
    [[nodiscard]] std::optional<std::chrono::year_month_day> day_of(std::int64_t instant) const;

    /// The number of a row's month, counted through the years.
    [[nodiscard]] std::int64_t month_of(std::int64_t instant) const {
        const std::chrono::year_month_day date = day_of(instant).value_or(clock_time(instant, offset_seconds).date);
        return static_cast<int>(date.year()) * std::int64_t{12} + static_cast<unsigned>(date.month()) - 1;
    }

    /// The instant of the row `count` months after that of an instant.
    [[nodiscard]] std::int64_t later(std::int64_t instant, std::int64_t count) const;

private:
    [[nodiscard]] std::chrono::sys_days day_in(std::chrono::year_month target) const;
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
    unsigned least_left = 31;  // days of their months behind them
    unsigned most_left = 0;
    bool are_workdays = true;  // from Monday to Friday
    bool are_early = true;     // within the first five days of their months
    bool are_late = true;      // within the last five

    void add(const std::chrono::year_month_day& date);
};

}  // namespace detail

/// The rule that rows follow which come once in a month, or in several, in the order of time: the same day, the last
/// day, or (of three rows and more) so many days before it, or the first or the last workday. Nothing where there is
/// none.
std::optional<MonthRule> find_month_rule(const std::vector<std::int64_t>& instants, std::int64_t offset_seconds);

/// Times of `unit` nanoseconds in nanoseconds; nothing where `unit` is 0, as of a counter, or one of them lies beyond
/// the years that these count.
std::optional<std::vector<std::int64_t>> instants_of(const std::vector<std::int64_t>& times, std::int64_t unit);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/month_rule.hpp>
#endif
