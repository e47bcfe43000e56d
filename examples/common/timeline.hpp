// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "timestamp.hpp"

namespace examples {

/// The times of a table's rows, and how they go on after its last row.
///
/// Understands ISO-8601 dates and times at equal intervals (whole months included), and whole numbers at equal
/// intervals (epoch seconds, milliseconds, microseconds, nanoseconds, or plain counters). A few odd intervals, as a
/// recorder that skipped a beat leaves them, do not matter: the median interval counts when half of all agree with it.
class Timeline {
public:
    enum class Kind { unknown, instants, months, numbers };

    Timeline() = default;

    explicit Timeline(std::vector<std::string> stamps) : stamps_(std::move(stamps)) {
        if (stamps_.size() < 2) {
            return;
        }
        if (!detect_instants()) {
            detect_numbers();
        }
    }

    [[nodiscard]] Kind kind() const { return kind_; }

    /// Whether timestamps after the last row can be told.
    [[nodiscard]] bool continues() const { return kind_ != Kind::unknown; }

    /// The timestamp of a row: the file's own inside the table, continued behind it; empty where it cannot be told.
    [[nodiscard]] std::string stamp(std::int64_t row) const {
        if (row >= 0 && row < rows()) {
            return stamps_[static_cast<std::size_t>(row)];
        }
        if (kind_ == Kind::unknown) {
            return "";
        }
        if (kind_ == Kind::months) {
            return timestamp_text(add_months(anchor_, (row - anchor_row()) * step_), style_);
        }
        const double reach = static_cast<double>(anchor_) + static_cast<double>(step_) * static_cast<double>(row);
        if (std::abs(reach) > 9e18) {
            return "";
        }
        const std::int64_t value = anchor_ + (row - anchor_row()) * step_;
        return kind_ == Kind::numbers ? std::to_string(value) : timestamp_text(value, style_);
    }

    /// The row that timestamps are continued from: the table's last.
    [[nodiscard]] std::int64_t anchor_row() const { return rows() - 1; }
    /// The last row's instant in nanoseconds, or its number.
    [[nodiscard]] std::int64_t anchor() const { return anchor_; }
    /// The interval between rows: nanoseconds, months, or a plain number.
    [[nodiscard]] std::int64_t step() const { return step_; }
    /// The spelling of the last row's timestamp.
    [[nodiscard]] const TimestampStyle& style() const { return style_; }
    /// Nanoseconds in one unit of a number that looks like an epoch time; 0 for a plain counter.
    [[nodiscard]] std::int64_t epoch_unit() const { return epoch_unit_; }

    /// `instant` moved by whole months on the clock of the timeline's zone; days that a month lacks become its last.
    [[nodiscard]] std::int64_t add_months(std::int64_t instant, std::int64_t count) const {
        using namespace std::chrono;
        const ClockTime clock = clock_time(instant, style_.offset_seconds);
        const year_month target = year_month(clock.date.year(), clock.date.month()) + months(static_cast<int>(count));
        const year_month_day_last last_day(target.year(), month_day_last(target.month()));
        const year_month_day date(target.year(), target.month(), std::min(clock.date.day(), last_day.day()));
        const std::int64_t day_number = sys_days(date).time_since_epoch().count();
        return (day_number * seconds_per_day - style_.offset_seconds) * nanoseconds_per_second +
               clock.nanosecond_of_day;
    }

private:
    [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(stamps_.size()); }

    bool detect_instants() {
        std::vector<std::int64_t> instants;
        for (const std::string& text : stamps_) {
            const std::optional<Timestamp> stamp = parse_timestamp(text);
            if (!stamp) {
                return false;
            }
            instants.push_back(stamp->instant);
            style_ = stamp->style;
        }
        if (const std::int64_t month_step = equal_months(instants)) {
            kind_ = Kind::months;
            step_ = month_step;
            anchor_ = instants.back();
            return true;
        }
        return adopt(instants, Kind::instants);
    }

    void detect_numbers() {
        std::vector<std::int64_t> numbers;
        for (const std::string& text : stamps_) {
            const std::optional<std::int64_t> number = parse_whole_number(text);
            // The bound keeps differences and continuations clear of overflow.
            if (!number || std::abs(static_cast<double>(*number)) > 4e18) {
                return;
            }
            numbers.push_back(*number);
        }
        if (!adopt(numbers, Kind::numbers)) {
            return;
        }
        // 1e9 to 4e9 seconds are the years 2001 to 2096.
        for (std::int64_t unit = 1; unit <= nanoseconds_per_second; unit *= 1000) {
            const std::int64_t per_second = nanoseconds_per_second / unit;
            if (anchor_ / per_second >= 1'000'000'000 && anchor_ / per_second < 4'000'000'000) {
                epoch_unit_ = unit;
            }
        }
    }

    bool adopt(const std::vector<std::int64_t>& values, Kind kind) {
        std::vector<std::int64_t> differences;
        for (std::size_t i = 1; i < values.size(); ++i) {
            differences.push_back(values[i] - values[i - 1]);
        }
        const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
        std::nth_element(differences.begin(), middle, differences.end());
        const std::int64_t median = *middle;
        const auto agrees = [&](std::int64_t difference) { return std::abs(difference - median) <= median / 100; };
        const auto agreeing = std::count_if(differences.begin(), differences.end(), agrees);
        if (median <= 0 || 2 * agreeing < static_cast<std::ptrdiff_t>(differences.size())) {
            return false;
        }
        kind_ = kind;
        step_ = median;
        anchor_ = values.back();
        return true;
    }

    /// The number of months between neighbours when it is the same for all, on the same day and time; else 0.
    [[nodiscard]] std::int64_t equal_months(const std::vector<std::int64_t>& instants) const {
        const ClockTime first = clock_time(instants[0], style_.offset_seconds);
        const auto month_number = [&](std::int64_t instant) {
            const ClockTime clock = clock_time(instant, style_.offset_seconds);
            return static_cast<int>(clock.date.year()) * 12LL + static_cast<unsigned>(clock.date.month());
        };
        const std::int64_t step = month_number(instants[1]) - month_number(instants[0]);
        for (std::size_t i = 1; i < instants.size(); ++i) {
            const ClockTime clock = clock_time(instants[i], style_.offset_seconds);
            const bool same_day = clock.date.day() == first.date.day() || both_last(first.date, clock.date);
            if (!same_day || clock.nanosecond_of_day != first.nanosecond_of_day) {
                return 0;
            }
            if (month_number(instants[i]) - month_number(instants[i - 1]) != step) {
                return 0;
            }
        }
        return std::max<std::int64_t>(step, 0);
    }

    static bool both_last(const std::chrono::year_month_day& one, const std::chrono::year_month_day& other) {
        const auto last = [](const std::chrono::year_month_day& date) {
            return date.day() ==
                   std::chrono::year_month_day_last(date.year(), std::chrono::month_day_last(date.month())).day();
        };
        return last(one) && last(other);
    }

    std::vector<std::string> stamps_;
    Kind kind_ = Kind::unknown;
    TimestampStyle style_;
    std::int64_t anchor_ = 0;
    std::int64_t step_ = 0;
    std::int64_t epoch_unit_ = 0;
};

}  // namespace examples
