// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <totograph/io/csv/table.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/time_step.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace examples {

/// How many days lie between a time, of which the Monday of its week is so many days ago, and the one that is so many
/// workdays behind it, or before it.
inline double days_of_workdays(double since_monday, double workdays) {
    return workdays + 2 * std::floor((since_monday + workdays) / 5);
}

/// How many workdays they are; a weekend counts as its end.
inline double workdays_of_days(double since_monday, double days) {
    const double place = since_monday + days;
    const double week = std::floor(place / 7);
    return 5 * week + std::min(place - 7 * week, 5.0) - since_monday;
}

/// How many days ago the Monday of the last time's week began, where times are one day apart or more and none of them
/// is on a weekend, in two weeks and more; else nothing.
/// @param step  how far apart most of them are
/// @param unit  nanoseconds in one count of the times and of the step; 0 where they are no times of a clock
inline std::optional<double> since_monday_of_workdays(const std::vector<std::int64_t>& times, double step,
                                                      std::int64_t unit, std::int64_t offset_seconds) {
    constexpr std::int64_t nanoseconds = totograph::io::seconds_per_day * totograph::io::nanoseconds_per_second;
    constexpr std::size_t two_weeks = 10;
    if (unit == 0 || nanoseconds % unit != 0 || times.size() < two_weeks) {
        return std::nullopt;
    }
    const std::int64_t day = nanoseconds / unit;
    if (step != static_cast<double>(day)) {
        return std::nullopt;
    }
    const std::int64_t newest = times.back();
    const totograph::io::ClockTime last = totograph::io::clock_time(newest * unit, offset_seconds);
    const auto weekday = (std::chrono::weekday(std::chrono::sys_days(last.date)) - std::chrono::Monday).count();
    const bool are_workdays = std::all_of(times.begin(), times.end(), [&](std::int64_t time) {
        // Rounded, for daylight saving may move the clock by an hour.
        const std::int64_t before = (newest - time + day / 2) / day;
        return ((weekday - before) % 7 + 7) % 7 < 5;
    });
    if (!are_workdays) {
        return std::nullopt;
    }
    return static_cast<double>(weekday) +
           static_cast<double>(last.nanosecond_of_day) / static_cast<double>(nanoseconds);
}

/// The times of a table's rows, and how they go on after its last row.
///
/// Understands dates and times at equal intervals (whole months included, and two days of each), and numbers at equal
/// intervals (epoch times, or plain counters). A few odd intervals, as a recorder that skipped a beat leaves them, do
/// not matter: the median interval counts when half of all agree with it. Of daily rows that never fall on a weekend,
/// in two weeks and more, as `--as-is` leaves them, the ones to come do not either.
class Timeline {
public:
    enum class Kind { unknown, instants, months, numbers };

    Timeline() = default;

    explicit Timeline(const totograph::io::Table& table) : Timeline(table.timestamps, table.clock) {}

    /// Of stamps alone; dates that do not begin with their year are none here.
    explicit Timeline(std::vector<std::string> stamps) {
        totograph::io::Clock clock = totograph::io::read_clock(stamps);
        *this = Timeline(std::move(stamps), clock);
    }

    [[nodiscard]] Kind kind() const { return kind_; }

    /// Whether timestamps after the last row can be told.
    [[nodiscard]] bool continues() const { return kind_ != Kind::unknown; }

    /// Whether the time of a row can be counted. Nanoseconds end in the year 2262.
    [[nodiscard]] bool reaches(std::int64_t row) const {
        return continues() && step_.reaches(anchor_, row - anchor_row());
    }

    /// The timestamp of a row: the file's own inside the table, continued behind it; empty where it cannot be told.
    [[nodiscard]] std::string stamp(std::int64_t row) const {
        if (row >= 0 && row < rows()) {
            return stamps_[static_cast<std::size_t>(row)];
        }
        if (!reaches(row)) {
            return "";
        }
        if (!are_workdays_) {
            return clock_.text(step_.later(anchor_, row - anchor_row()));
        }
        const double days = days_of_workdays(since_monday_, static_cast<double>(row - anchor_row()));
        const auto count = static_cast<std::int64_t>(days);
        return step_.reaches(anchor_, count) ? clock_.text(step_.later(anchor_, count)) : "";
    }

    /// The row that timestamps are continued from: the table's last.
    [[nodiscard]] std::int64_t anchor_row() const { return rows() - 1; }
    /// The last row's instant in nanoseconds, or its number.
    [[nodiscard]] std::int64_t anchor() const { return anchor_; }
    /// The interval between rows: nanoseconds, months, or a plain number.
    [[nodiscard]] std::int64_t step() const { return step_.length; }
    /// The same on average, where times are rounded.
    [[nodiscard]] double mean_step() const { return step_.mean(); }
    /// Whether rows are the days from Monday to Friday.
    [[nodiscard]] bool are_workdays() const { return are_workdays_; }
    /// Whether rows come twice in a month, on two days of it.
    [[nodiscard]] bool are_half_months() const { return step_.kind == totograph::io::TimeStep::Kind::half_months; }
    /// How many days ago the Monday of the last row's week began; for workdays only.
    [[nodiscard]] double since_monday() const { return since_monday_; }
    /// The spelling of the last row's timestamp.
    [[nodiscard]] const totograph::io::TimestampStyle& style() const { return clock_.style; }
    /// Nanoseconds in one count of a number that looks like an epoch time; 0 for a plain counter.
    [[nodiscard]] std::int64_t epoch_unit() const { return clock_.epoch_unit; }

    /// How many counts of `anchor` and `step` are 1 in the file, of a plain number.
    [[nodiscard]] double counts_of_one() const { return std::pow(10.0, clock_.decimals); }

    /// The instant `count` rows after the last one, for rows of whole months or of their halves, and reached.
    [[nodiscard]] std::int64_t calendar_later(std::int64_t count) const {
        return step_.later(anchor_, count) * step_.unit;
    }

private:
    Timeline(std::vector<std::string> stamps, totograph::io::Clock clock)
        : stamps_(std::move(stamps)), clock_(std::move(clock)) {
        const auto& times = clock_.times;
        const bool has_unknown = std::find(times.begin(), times.end(), totograph::io::Clock::unknown) != times.end();
        if (!clock_.is_known() || times.size() < 2 || has_unknown) {
            return;
        }
        using Step = totograph::io::TimeStep::Kind;
        const totograph::io::TimeStep step = totograph::io::find_time_step(clock_);
        if (step.kind != Step::uneven) {
            const bool is_number = clock_.kind == totograph::io::Clock::Kind::numbers;
            kind_ = step.kind == Step::months ? Kind::months : is_number ? Kind::numbers : Kind::instants;
            step_ = step;
            anchor_ = clock_.times.back();
            find_workdays();
        }
        clock_.times = {};
    }

    void find_workdays() {
        // Of dates and times, or of epoch times, which are counts of so many nanoseconds.
        const std::int64_t unit = kind_ == Kind::instants ? 1 : kind_ == Kind::numbers ? epoch_unit() : 0;
        const std::int64_t offset = kind_ == Kind::instants ? clock_.style.offset_seconds : 0;
        const std::optional<double> since =
            since_monday_of_workdays(clock_.times, static_cast<double>(step_.length), unit, offset);
        are_workdays_ = since.has_value();
        since_monday_ = since.value_or(0);
    }

    [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(stamps_.size()); }

    std::vector<std::string> stamps_;
    totograph::io::Clock clock_;  // without its times
    Kind kind_ = Kind::unknown;
    std::int64_t anchor_ = 0;
    double since_monday_ = 0;
    bool are_workdays_ = false;
    totograph::io::TimeStep step_;
};

}  // namespace examples
