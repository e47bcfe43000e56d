// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/month_step.hpp>
#include <totograph/io/time/time_step.hpp>
#include <totograph/io/time/timestamp.hpp>

#include "../intake/timeline.hpp"
#include "counted_numbers.hpp"

namespace examples {

/// Puts lines in order by their timestamps and learns how far apart they are: the median of the last intervals. A line
/// far ahead of the one before it is held back until the next one tells a pause from a wrong timestamp.
class StreamClock {
public:
    /// A line more steps ahead than this is held back.
    static constexpr double far_steps = 100;

    /// `order` is that of dates that do not begin with their year; by default the first one tells that can be read in
    /// one way only. Where lines are `as_is`, what lies between two of them is no step, and none is held back. Of
    /// `date_digits` digits each time is (`parse_date_in_digits`); 0: it is spelled otherwise, or is a day of eight.
    explicit StreamClock(std::optional<totograph::io::DateOrder> order = std::nullopt, bool as_is = false,
                         std::size_t date_digits = 0)
        : order_(order), as_is_(as_is), date_digits_(date_digits) {}

    /// How a line stands to the one before it.
    struct Tick {
        bool is_readable = true;
        bool is_unclear = false;  ///< Not readable, for day and month could change places.
        bool is_late = false;
        bool is_repeated = false;  ///< It is late, for its time was there just before.
        bool is_held = false;     ///< Far ahead: `resolve_held` with the next timestamp tells what becomes of the line.
        bool is_refuted = false;  ///< It was held back, and its timestamp is wrong.
        std::int64_t skipped = 0;  ///< Steps between the two that no line came for.
    };

    /// What becomes of the line that is held back, now that the next one's timestamp is known; nothing when none is
    /// held back, and while the next ones do not tell. To be called before `advance` of the same timestamp.
    std::optional<Tick> resolve_held(const std::string& next) {
        const int decimals = counts_.decimals;
        const std::optional<std::int64_t> now = counts_.held ? read(next) : std::nullopt;
        if (!now || *now <= *counts_.last || *now == *counts_.held) {
            counts_.count_coarser(decimals);
            return std::nullopt;
        }
        const std::int64_t held = *counts_.held;
        counts_.held.reset();
        if (*now < held) {
            return Tick{.is_refuted = true};
        }
        // Near it, or as far from it as it is from the line before: then lines have become rare.
        const double after = distance(held, *now);
        const double jump = distance(*counts_.last, held);
        const bool is_confirmed = after <= far_steps * interval(1) || (after >= jump / 2 && after <= jump * 3 / 2);
        return is_confirmed ? accept(held) : Tick{.is_refuted = true};
    }

    /// Takes the next line's timestamp: a date and time, or a number. A late or unreadable one changes nothing, not
    /// even how times to come are written.
    Tick advance(const std::string& text) {
        const int decimals = counts_.decimals;
        const Tick tick = take(text);
        if (counts_.decimals > decimals && taken_ >= 2 && (tick.is_late || tick.is_held || !tick.is_readable)) {
            counts_.count_coarser(decimals);
        }
        return tick;
    }

    /// The timestamp `steps` after the last line; "+steps" as long as the rhythm is not known. Lines that come once in
    /// a month, or in several, go on in the months behind; those of days as they are that were on no weekend for two
    /// weeks, on workdays.
    [[nodiscard]] std::string later(std::int64_t steps) const {
        if (std::optional<std::string> months = months_later(steps)) {
            return *std::move(months);
        }
        if (std::optional<std::string> workdays = workdays_later(steps)) {
            return *std::move(workdays);
        }
        if (const totograph::io::TimeStep step = usual_step();
            (step.turn != 0 || step.kind == totograph::io::TimeStep::Kind::half_months) &&
            step.reaches(*counts_.last, steps)) {
            return clock().text(step.later(*counts_.last, steps));
        }
        const double usual = interval(3);
        const double ahead = usual * static_cast<double>(steps);
        std::int64_t value = 0;
        // What is beyond 64 bits has no name, neither the distance nor the sum.
        if (!(usual > 0) || !(ahead < 9e18) || __builtin_add_overflow(*counts_.last, std::llround(ahead), &value)) {
            return unnamed(steps);
        }
        return clock().text(value);
    }

private:
    Tick take(const std::string& text) {
        const std::optional<std::int64_t> now = read(text);
        if (!now) {
            const totograph::io::DateReading reading = totograph::io::date_reading(text);
            return {.is_readable = false,
                    .is_unclear = !order_ && !counts_.last && reading.can_be_day_first && reading.can_be_month_first};
        }
        if (counts_.last && *now <= *counts_.last) {
            // The first lines may be wrong, and all others right: two that ascend are believed then. Where none is
            // held back, any line may be.
            const bool is_restart = (as_is_ || taken_ < 2) && counts_.late && *counts_.late < *now;
            if (!is_restart) {
                counts_.late = now;
                return {.is_late = true, .is_repeated = *now == *counts_.last};
            }
            counts_.last = counts_.late;
            counts_.recent = {*counts_.late};
            counts_.held.reset();
            taken_ = as_is_ ? taken_ : 0;
        } else if (counts_.held && *now == *counts_.held) {
            return {.is_late = true, .is_repeated = true};
        } else if (!as_is_ && counts_.last && taken_ > 0 && distance(*counts_.last, *now) > far_steps * interval(1)) {
            counts_.held = now;
            return {.is_held = true};
        }
        return accept(*now);
    }

    [[nodiscard]] totograph::io::Clock clock() const {
        totograph::io::Clock clock;
        clock.kind = style_ ? totograph::io::Clock::Kind::instants : totograph::io::Clock::Kind::numbers;
        clock.style = style_.value_or(totograph::io::TimestampStyle());
        clock.decimals = counts_.decimals;
        return clock;
    }

    /// The step of the last lines, which may be rounded, such as 33 and 34 ms by turns.
    [[nodiscard]] totograph::io::TimeStep usual_step() const {
        totograph::io::Clock recent = clock();
        recent.times = counts_.recent;
        recent.epoch_unit = counts_.last ? unit() : 0;
        return totograph::io::find_time_step(recent);
    }

    /// Nanoseconds in one count of a time; 0 of a counter.
    [[nodiscard]] std::int64_t unit() const {
        return style_ ? 1 : totograph::io::epoch_unit_of(*counts_.last, counts_.decimals);
    }

    /// So many steps after the last line, where the last lines are whole months apart.
    [[nodiscard]] std::optional<std::string> months_later(std::int64_t steps) const {
        if (counts_.recent.size() < 3) {
            return std::nullopt;
        }
        const std::optional<std::vector<std::int64_t>> instants = totograph::io::instants_of(counts_.recent, unit());
        const std::optional<totograph::io::MonthStep> step =
            instants ? totograph::io::find_month_step(*instants, style_ ? style_->offset_seconds : 0) : std::nullopt;
        if (!step) {
            return std::nullopt;
        }
        return step->reaches(steps) ? clock().text(step->later(steps) / unit()) : unnamed(steps);
    }

    /// So many steps after the last line, where the last lines are days, and all of them workdays.
    [[nodiscard]] std::optional<std::string> workdays_later(std::int64_t steps) const {
        if (!as_is_ || !counts_.last) {
            return std::nullopt;
        }
        const double day = interval(3);
        const std::optional<double> since_monday =
            since_monday_of_workdays(counts_.recent, day, unit(), style_ ? style_->offset_seconds : 0);
        if (!since_monday) {
            return std::nullopt;
        }
        const double ahead = days_of_workdays(*since_monday, static_cast<double>(steps)) * day;
        std::int64_t value = 0;
        if (!(ahead < 9e18) || __builtin_add_overflow(*counts_.last, std::llround(ahead), &value)) {
            return unnamed(steps);
        }
        return clock().text(value);
    }

    /// What stands for a time that is not known.
    static std::string unnamed(std::int64_t steps) { return "+" + std::to_string(steps); }

    /// `to` is after `from`. Exact for neighbours however large both are, and never too large.
    static double distance(std::int64_t from, std::int64_t to) {
        return static_cast<double>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from));
    }

    std::optional<std::int64_t> read(const std::string& text) {
        using namespace totograph::io;
        decide_order(text);
        std::optional<Timestamp> stamp = parse_timestamp(text, order_.value_or(DateOrder::year_first));
        if (!stamp && date_digits_ > 0) {
            stamp = text.size() == date_digits_ ? parse_date_in_digits(text) : std::nullopt;
            if (!stamp) {
                return std::nullopt;
            }
        }
        // Eight digits are a date where the first line's are.
        if (!stamp && (is_compact_ || !counts_.last)) {
            stamp = parse_compact_date(text);
            is_compact_ = stamp.has_value() || is_compact_;
        }
        if (stamp) {
            if (style_) {
                join_style(stamp->style, *style_);
            }
            newest_style_ = stamp->style;
            return stamp->instant;
        }
        return style_ ? std::nullopt : counts_.read(text);
    }

    void decide_order(const std::string& text) {
        using namespace totograph::io;
        const DateReading reading = date_reading(text);
        if (order_ || counts_.last || reading.can_be_day_first == reading.can_be_month_first) {
            return;
        }
        order_ = reading.can_be_day_first ? DateOrder::day_first : DateOrder::month_first;
    }

    /// Takes a timestamp after the last one.
    Tick accept(std::int64_t now) {
        Tick tick;
        if (counts_.last) {
            const double gap = distance(*counts_.last, now);
            if (double usual = interval(3); usual > 0) {
                constexpr double few = 10;  // in which a step that is rounded drifts by less than one
                if (gap > few * usual) {
                    const totograph::io::TimeStep step = usual_step();
                    usual = step.turn != 0 ? step.mean() : usual;
                }
                tick.skipped = static_cast<std::int64_t>(std::min(std::round(gap / usual), 1e15)) - 1;
                tick.skipped = std::max<std::int64_t>(tick.skipped, 0);
            }
            learn(gap, tick.skipped > 0);
        }
        style_ = newest_style_;
        counts_.last = now;
        counts_.late.reset();
        counts_.recent.push_back(now);
        if (counts_.recent.size() > most_recent) {
            counts_.recent.erase(counts_.recent.begin());
        }
        return tick;
    }

    /// One pause says nothing about the rhythm; many alike, with nothing between them, are the new one.
    void learn(double gap, bool is_pause) {
        if (!is_pause) {
            counts_.gaps[taken_++ % counts_.gaps.size()] = gap;
            paused_ = 0;
            return;
        }
        counts_.pauses[paused_++ % counts_.pauses.size()] = gap;
        const auto [shortest, longest] = std::minmax_element(counts_.pauses.begin(), counts_.pauses.end());
        if (paused_ >= counts_.pauses.size() && *longest <= *shortest * 3 / 2) {
            std::copy(counts_.pauses.begin(), counts_.pauses.end(), counts_.gaps.begin());
            taken_ = counts_.pauses.size();
            paused_ = 0;
        }
    }

    /// 0 until so many gaps are known.
    [[nodiscard]] double interval(std::size_t least) const {
        const std::size_t count = std::min(taken_, counts_.gaps.size());
        if (count < least) {
            return 0;
        }
        auto sorted = counts_.gaps;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
        std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
        return *middle;
    }

    CountedNumbers counts_;
    std::optional<totograph::io::TimestampStyle> style_;         // of all that were taken
    std::optional<totograph::io::TimestampStyle> newest_style_;  // the same with the one that was read last
    std::optional<totograph::io::DateOrder> order_;
    bool as_is_ = false;
    std::size_t date_digits_ = 0;
    bool is_compact_ = false;
    static constexpr std::size_t most_recent = 24;
    std::size_t taken_ = 0;
    std::size_t paused_ = 0;
};

}  // namespace examples
