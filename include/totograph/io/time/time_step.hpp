// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/half_months.hpp>
#include <totograph/io/time/month_rule.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {

/// How far apart rows are in time.
struct TimeStep {
    enum class Kind { uneven, even, half_months, months };

    Kind kind = Kind::uneven;
    /// As `Clock::times` count, of half months on average; or whole months; 0 for `uneven`.
    std::int64_t length = 0;
    MonthRule months{};   ///< Where in its month a row stands; for `months` only.
    HalfMonths halves{};  ///< Likewise, for `half_months` only.
    /// Nanoseconds in one count of the times, more than 1 of epoch times; for `months` and `half_months` only.
    std::int64_t unit = 1;
    /// Where times are rounded, so that a step is `length` or this much beside it by turns (33 and 34 ms at 30 a
    /// second), how many of these a step is longer than `length` on average, from -1 to 1; 0 where none is.
    double turns_a_step = 0;
    std::int64_t turn = 0;
    /// Row n of such times is `first` + n * `length`, and n * `turns_a_step` + `phase` turns, to the nearest whole
    /// number.
    std::int64_t first = 0;
    double phase = 0;

    /// The length of a step on average; not of `months`.
    [[nodiscard]] double mean() const { return static_cast<double>(length) + turns_a_step * static_cast<double>(turn); }

    /// The time of the row `count` steps after that of `time`.
    [[nodiscard]] std::int64_t later(std::int64_t time, std::int64_t count) const {
        if (kind == Kind::months) {
            return months.later(time * unit, count * length) / unit;
        }
        if (kind == Kind::half_months) {
            return halves.later(time * unit, count) / unit;
        }
        if (turn == 0) {
            return time + count * length;
        }
        // From the first row on, for this one is rounded.
        const double rows = std::round(static_cast<double>(time_between(first, time)) / mean());
        const std::int64_t place = static_cast<std::int64_t>(rows) + count;
        const double turns = std::floor(static_cast<double>(place) * turns_a_step + phase + 0.5);
        return first + place * length + static_cast<std::int64_t>(turns) * turn;
    }

    /// How many steps of the calendar lie between two times; of `months` and `half_months`.
    [[nodiscard]] std::int64_t calendar_steps(std::int64_t from, std::int64_t to) const {
        return kind == Kind::months ? (months.month_of(to * unit) - months.month_of(from * unit)) / length
                                    : halves.place_of(to * unit) - halves.place_of(from * unit);
    }

    /// Whether `later` can be counted. Nanoseconds end in the year 2262.
    [[nodiscard]] bool reaches(std::int64_t time, std::int64_t count) const {
        constexpr std::int64_t most = 9'000'000'000'000'000'000;
        constexpr std::int64_t longest_month = 31 * seconds_per_day * nanoseconds_per_second;
        const std::int64_t interval = kind == Kind::months ? longest_month : unit;
        std::int64_t begin = 0;
        std::int64_t steps = 0;
        std::int64_t distance = 0;
        std::int64_t sum = 0;
        std::int64_t longest = 0;
        const bool is_lost =
            __builtin_add_overflow(length, turn, &longest) || __builtin_mul_overflow(count, longest, &steps) ||
            __builtin_mul_overflow(steps, interval, &distance) || __builtin_mul_overflow(time, unit, &begin) ||
            __builtin_add_overflow(begin, distance, &sum);
        return !is_lost && sum >= -most && sum <= most;
    }
};

namespace detail {

/// The step of even rows whose intervals are two that come by turns, as of a clock that rounds: sets
/// `turns_a_step` and `phase` where all times are those of one longer or shorter step, each rounded.
/// @param alike  the intervals that are about a step, ascending
void find_turns(TimeStep& step, const std::vector<std::int64_t>& times, std::span<const std::int64_t> alike);

/// The line through points, by least squares: how much it rises with each of `x`, and its value where that is 0.
std::pair<double, double> line_through(std::span<const double> x, std::span<const double> y);

/// The months between neighbours where all are whole multiples of the shortest interval apart; else 0.
std::int64_t month_step(const std::vector<std::int64_t>& instants, const MonthRule& rule);

/// The step of instants, or of epoch times, that are whole months apart or on two days of each; `uneven` where they are
/// neither.
TimeStep calendar_step(const Clock& clock);

}  // namespace detail

/// The usual interval between times: whole months where all agree on one, or two days of each month, else the most
/// frequent one of those within a tenth of the median one (of two, the shorter), when half of all are (a recorder may
/// be late, or skip a beat). The times must all be known.
TimeStep find_time_step(const Clock& clock);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/time_step.hpp>
#endif
