// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <totograph/io/time/timestamp.hpp>

#include "../intake/timeline.hpp"
#include "format.hpp"

namespace examples {

/// A labelled position on the time axis, in rows (fractions are positions between rows).
struct TimeTick {
    double row = 0;
    std::string label;
};

/// The labels of a time axis and the words that say what they count.
struct TimeAxis {
    std::vector<TimeTick> ticks;
    std::string caption;
};

namespace detail {

using totograph::io::clock_time;
using totograph::io::ClockTime;
using totograph::io::date_text;
using totograph::io::nanoseconds_per_second;
using totograph::io::seconds_per_day;
using totograph::io::time_of_day_text;
using totograph::io::TimestampStyle;

inline constexpr std::array<const char*, 12> month_names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// Where rows lie on a clock.
struct ClockScale {
    std::int64_t anchor_row = 0;
    std::int64_t anchor = 0;  // nanoseconds since 1970
    double step = 1;          // nanoseconds a row
    std::int64_t offset_seconds = 0;
    bool are_workdays = false;
    double since_monday = 0;           // days from the Monday before the anchor, for workdays
    const Timeline* halves = nullptr;  // for rows on two days of each month, which are not equally far apart

    [[nodiscard]] double instant(double row) const {
        if (halves != nullptr) {
            const double below = std::floor(row);
            const auto begin = static_cast<double>(instant_of_half(below));
            return below == row ? begin
                                : begin + (row - below) * (static_cast<double>(instant_of_half(below + 1)) - begin);
        }
        const double steps = row - static_cast<double>(anchor_row);
        return static_cast<double>(anchor) + (are_workdays ? days_of_workdays(since_monday, steps) : steps) * step;
    }
    [[nodiscard]] double row(std::int64_t at) const {
        if (halves != nullptr) {
            return row_of_half(at);
        }
        const double steps = static_cast<double>(at - anchor) / step;
        return static_cast<double>(anchor_row) + (are_workdays ? workdays_of_days(since_monday, steps) : steps);
    }
    /// Whether a time is of a day on which no row is.
    [[nodiscard]] bool is_between(std::int64_t time) const {
        const double days = static_cast<double>(time - anchor) / 86400e9;
        const auto place = static_cast<std::int64_t>(std::floor(since_monday + days + 0.1));  // daylight saving
        return are_workdays && (place % 7 + 7) % 7 >= 5;
    }

private:
    [[nodiscard]] std::int64_t instant_of_half(double row) const {
        return halves->calendar_later(static_cast<std::int64_t>(row) - anchor_row);
    }
    [[nodiscard]] double row_of_half(std::int64_t at) const {
        double below = static_cast<double>(anchor_row) + std::floor(static_cast<double>(at - anchor) / step);
        while (instant_of_half(below) > at) {
            --below;
        }
        while (instant_of_half(below + 1) <= at) {
            ++below;
        }
        const std::int64_t begin = instant_of_half(below);
        return below + static_cast<double>(at - begin) / static_cast<double>(instant_of_half(below + 1) - begin);
    }
};

inline std::string month_label(const std::chrono::year_month_day& date, bool whole_years) {
    const auto month = static_cast<unsigned>(date.month());
    return whole_years || month == 1 ? std::to_string(static_cast<int>(date.year())) : month_names[month - 1];
}

/// Ticks at whole days or parts of a day, aligned to midnight (weeks: to Monday) of the zone.
inline std::vector<TimeTick> clock_ticks(const ClockScale& scale, double first, double last, double unit_seconds) {
    const double unit = unit_seconds * 1e9;
    // Day 4 after 1970-01-01, a Thursday, is a Monday.
    const double phase = unit_seconds >= 7 * 86400.0 ? 4 * 86400e9 : 0;
    const double shift = static_cast<double>(scale.offset_seconds) * 1e9 - phase;
    std::vector<TimeTick> ticks;
    for (double index = std::ceil((scale.instant(first) + shift) / unit); index * unit - shift <= scale.instant(last);
         ++index) {
        const auto at = static_cast<std::int64_t>(std::llround(index * unit_seconds * 1e3)) * 1'000'000 -
                        static_cast<std::int64_t>(shift);
        const ClockTime clock = clock_time(at, scale.offset_seconds);
        TimestampStyle style;
        style.has_seconds = unit_seconds < 60;
        style.fraction_digits = unit_seconds < 1 ? 3 : 0;
        const std::string day = std::string(month_names[static_cast<unsigned>(clock.date.month()) - 1]) + " " +
                                std::to_string(static_cast<unsigned>(clock.date.day()));
        if (scale.is_between(at)) {
            continue;
        }
        const bool midnight = clock.nanosecond_of_day == 0;
        ticks.push_back({scale.row(at), midnight ? day : time_of_day_text(clock.nanosecond_of_day, style)});
    }
    return ticks;
}

/// Ticks at the first of every `months`-th month.
inline std::vector<TimeTick> calendar_ticks(const ClockScale& scale, double first, double last, int months) {
    using namespace std::chrono;
    const ClockTime begin = clock_time(static_cast<std::int64_t>(scale.instant(first)), scale.offset_seconds);
    int number =
        static_cast<int>(begin.date.year()) * 12 + static_cast<int>(static_cast<unsigned>(begin.date.month())) - 1;
    number = (number + months - 1) / months * months;
    std::vector<TimeTick> ticks;
    constexpr int last_year = 2261;  // that nanoseconds count whole
    for (; number / 12 <= last_year; number += months) {
        const year_month_day date(year(number / 12), month(static_cast<unsigned>(number % 12 + 1)), day(1));
        const std::int64_t days = sys_days(date).time_since_epoch().count();
        const double row = scale.row((days * seconds_per_day - scale.offset_seconds) * nanoseconds_per_second);
        if (row > last) {
            return ticks;
        }
        if (row >= first) {
            ticks.push_back({row, month_label(date, months >= 12)});
        }
    }
    return ticks;
}

inline std::vector<TimeTick> instant_ticks(const ClockScale& scale, double first, double last, std::size_t most) {
    const double seconds = (scale.instant(last) - scale.instant(first)) / 1e9;
    constexpr double rounding = 1e-5;  // of a mean step
    const double least = seconds / static_cast<double>(most) * (1 - rounding);
    for (const double unit :
         {0.001,  0.002,  0.005,  0.01,    0.02,    0.05,    0.1,     0.2,         0.5,         1.0,
          2.0,    5.0,    10.0,   15.0,    30.0,    60.0,    120.0,   300.0,       600.0,       900.0,
          1800.0, 3600.0, 7200.0, 10800.0, 21600.0, 43200.0, 86400.0, 2 * 86400.0, 7 * 86400.0, 14 * 86400.0}) {
        if (unit >= least) {
            return clock_ticks(scale, first, last, unit);
        }
    }
    for (const int months : {1, 2, 3, 6, 12, 24, 60, 120}) {
        if (months * 30.0 * 86400.0 >= least) {
            return calendar_ticks(scale, first, last, months);
        }
    }
    return calendar_ticks(scale, first, last, 600);
}

/// Ticks of a table with a row every few months: whole rows whose month number is round.
inline std::vector<TimeTick> month_row_ticks(const Timeline& timeline, std::int64_t first, std::int64_t last,
                                             std::size_t most) {
    const std::int64_t step = timeline.step();
    std::int64_t every = 600;
    for (const std::int64_t months : {120, 60, 24, 12, 6, 3, 2, 1}) {
        const bool fits = (last - first) * step / months < static_cast<std::int64_t>(most);
        if (fits && (months % step == 0 || step % months == 0)) {
            every = months;
        }
    }
    std::vector<TimeTick> ticks;
    for (std::int64_t row = first; row <= last; ++row) {
        const std::int64_t at = timeline.calendar_later(row - timeline.anchor_row());
        const ClockTime clock = clock_time(at, timeline.style().offset_seconds);
        const std::int64_t number =
            static_cast<int>(clock.date.year()) * 12LL + static_cast<unsigned>(clock.date.month()) - 1;
        // A year may begin between two rows: the first row in each span of `every` months carries the tick.
        if (number / every != (number - step) / every) {
            ticks.push_back({static_cast<double>(row), month_label(clock.date, every >= 12)});
        }
    }
    return ticks;
}

/// Ticks at round numbers on which a row is, or nearly is.
inline std::vector<TimeTick> number_ticks(double first, double last, double offset, double step, std::size_t most,
                                          double nearly = 1e-6) {
    const std::vector<double> values = nice_ticks({offset + first * step, offset + last * step}, most);
    const std::vector<std::string> labels = tick_labels(values);
    std::vector<TimeTick> ticks;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double row = (values[i] - offset) / step;
        if (std::abs(row - std::round(row)) < nearly) {
            ticks.push_back({row, labels[i]});
        }
    }
    return ticks;
}

/// "250 ms", "1 s", "5 min", "1 h", "7 days".
inline std::string duration_text(std::int64_t nanoseconds) {
    const double seconds = static_cast<double>(nanoseconds) / 1e9;
    if (seconds < 1) {
        return short_number(seconds * 1e3) + " ms";
    }
    if (seconds < 60 || std::fmod(seconds, 60) != 0) {
        return short_number(seconds, 6) + " s";
    }
    if (seconds < 3600 || std::fmod(seconds, 3600) != 0) {
        return short_number(seconds / 60, 6) + " min";
    }
    if (seconds < 86400 || std::fmod(seconds, 86400) != 0) {
        return short_number(seconds / 3600, 6) + " h";
    }
    return seconds == 86400 ? "1 day" : short_number(seconds / 86400, 6) + " days";
}

inline std::string date_range_text(const ClockScale& scale, double first, double last, const std::string& zone) {
    const auto date = [&](double row) {
        return date_text(clock_time(static_cast<std::int64_t>(scale.instant(row)), scale.offset_seconds).date);
    };
    std::string text = date(first) == date(last) ? date(first) : date(first) + " to " + date(last);
    if (!zone.empty()) {
        text += zone == "Z" ? " UTC" : " UTC" + zone;
    }
    return text;
}

}  // namespace detail

/// Ticks and a caption for the rows `first` to `last`, at most about `most` ticks. `origin` is the row of the first
/// forecast step: without timestamps that tell all rows, steps are counted from it.
inline TimeAxis time_axis(const Timeline& timeline, std::int64_t first, std::int64_t last, std::int64_t origin,
                          std::size_t most) {
    const auto low = static_cast<double>(first);
    const double high = std::max(static_cast<double>(last), low + 1);
    most = std::max<std::size_t>(most, 2);
    const bool is_reached = timeline.reaches(first) && timeline.reaches(std::max(last, first + 1));
    const Timeline::Kind kind = is_reached ? timeline.kind() : Timeline::Kind::unknown;
    if (kind == Timeline::Kind::months) {
        const std::int64_t step = timeline.step();
        const std::string unit = step % 12 == 0 ? plural(step / 12, "year") : plural(step, "month");
        return {detail::month_row_ticks(timeline, first, last, most), "one step is " + unit};
    }
    const bool epoch = kind == Timeline::Kind::numbers && timeline.epoch_unit() > 0;
    if (kind == Timeline::Kind::instants || epoch) {
        const std::int64_t unit = epoch ? timeline.epoch_unit() : 1;
        const detail::ClockScale scale{timeline.anchor_row(),
                                       timeline.anchor() * unit,
                                       timeline.mean_step() * static_cast<double>(unit),
                                       timeline.style().offset_seconds,
                                       timeline.are_workdays(),
                                       timeline.since_monday(),
                                       timeline.are_half_months() ? &timeline : nullptr};
        const std::string zone = epoch ? "Z" : timeline.style().zone;
        return {detail::instant_ticks(scale, low, high, most),
                detail::date_range_text(scale, low, high, zone) + ", one step is " +
                    (scale.are_workdays           ? "1 workday"
                     : timeline.are_half_months() ? "half a month"
                                                  : detail::duration_text(std::llround(scale.step)))};
    }
    if (kind == Timeline::Kind::numbers) {
        const double step = timeline.mean_step();
        const double rounding = step == static_cast<double>(timeline.step()) ? 1e-6 : 1 / step;
        const double offset =
            static_cast<double>(timeline.anchor()) - step * static_cast<double>(timeline.anchor_row());
        const double one = timeline.counts_of_one();
        return {detail::number_ticks(low, high, offset / one, step / one, most, rounding),
                "time in the units of the file"};
    }
    // The last row of the history is 0, so that the label of a step is how far ahead it was forecast.
    return {detail::number_ticks(low, high, 1 - static_cast<double>(origin), 1, most),
            "steps after the last observation"};
}

}  // namespace examples
