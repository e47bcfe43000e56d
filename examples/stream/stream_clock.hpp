// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/month_step.hpp>
#include <totograph/io/time/time_step.hpp>
#include <totograph/io/time/timestamp.hpp>

#include "../intake/timeline.hpp"

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
        const int decimals = decimals_;
        const std::optional<std::int64_t> now = held_ ? read(next) : std::nullopt;
        if (!now || *now <= *last_ || *now == *held_) {
            count_coarser(decimals);
            return std::nullopt;
        }
        const std::int64_t held = *held_;
        held_.reset();
        if (*now < held) {
            return Tick{.is_refuted = true};
        }
        // Near it, or as far from it as it is from the line before: then lines have become rare.
        const double after = distance(held, *now);
        const double jump = distance(*last_, held);
        const bool is_confirmed = after <= far_steps * interval(1) || (after >= jump / 2 && after <= jump * 3 / 2);
        return is_confirmed ? accept(held) : Tick{.is_refuted = true};
    }

    /// Takes the next line's timestamp: a date and time, or a number. A late or unreadable one changes nothing, not
    /// even how times to come are written.
    Tick advance(const std::string& text) {
        const int decimals = decimals_;
        const Tick tick = take(text);
        if (decimals_ > decimals && taken_ >= 2 && (tick.is_late || tick.is_held || !tick.is_readable)) {
            count_coarser(decimals);
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
            step.reaches(*last_, steps)) {
            return clock().text(step.later(*last_, steps));
        }
        const double usual = interval(3);
        const double ahead = usual * static_cast<double>(steps);
        std::int64_t value = 0;
        // What is beyond 64 bits has no name, neither the distance nor the sum.
        if (!(usual > 0) || !(ahead < 9e18) || __builtin_add_overflow(*last_, std::llround(ahead), &value)) {
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
                    .is_unclear = !order_ && !last_ && reading.can_be_day_first && reading.can_be_month_first};
        }
        if (last_ && *now <= *last_) {
            // The first lines may be wrong, and all others right: two that ascend are believed then. Where none is
            // held back, any line may be.
            const bool is_restart = (as_is_ || taken_ < 2) && late_ && *late_ < *now;
            if (!is_restart) {
                late_ = now;
                return {.is_late = true, .is_repeated = *now == *last_};
            }
            last_ = late_;
            recent_ = {*late_};
            held_.reset();
            taken_ = as_is_ ? taken_ : 0;
        } else if (held_ && *now == *held_) {
            return {.is_late = true, .is_repeated = true};
        } else if (!as_is_ && last_ && taken_ > 0 && distance(*last_, *now) > far_steps * interval(1)) {
            held_ = now;
            return {.is_held = true};
        }
        return accept(*now);
    }

    [[nodiscard]] totograph::io::Clock clock() const {
        totograph::io::Clock clock;
        clock.kind = style_ ? totograph::io::Clock::Kind::instants : totograph::io::Clock::Kind::numbers;
        clock.style = style_.value_or(totograph::io::TimestampStyle());
        clock.decimals = decimals_;
        return clock;
    }

    /// The step of the last lines, which may be rounded, such as 33 and 34 ms by turns.
    [[nodiscard]] totograph::io::TimeStep usual_step() const {
        totograph::io::Clock recent = clock();
        recent.times = recent_;
        recent.epoch_unit = last_ ? unit() : 0;
        return totograph::io::find_time_step(recent);
    }

    /// Nanoseconds in one count of a time; 0 of a counter.
    [[nodiscard]] std::int64_t unit() const { return style_ ? 1 : totograph::io::epoch_unit_of(*last_, decimals_); }

    /// So many steps after the last line, where the last lines are whole months apart.
    [[nodiscard]] std::optional<std::string> months_later(std::int64_t steps) const {
        if (recent_.size() < 3) {
            return std::nullopt;
        }
        const std::optional<std::vector<std::int64_t>> instants = totograph::io::instants_of(recent_, unit());
        const std::optional<totograph::io::MonthStep> step =
            instants ? totograph::io::find_month_step(*instants, style_ ? style_->offset_seconds : 0) : std::nullopt;
        if (!step) {
            return std::nullopt;
        }
        return step->reaches(steps) ? clock().text(step->later(steps) / unit()) : unnamed(steps);
    }

    /// So many steps after the last line, where the last lines are days, and all of them workdays.
    [[nodiscard]] std::optional<std::string> workdays_later(std::int64_t steps) const {
        if (!as_is_ || !last_) {
            return std::nullopt;
        }
        const double day = interval(3);
        const std::optional<double> since_monday =
            since_monday_of_workdays(recent_, day, unit(), style_ ? style_->offset_seconds : 0);
        if (!since_monday) {
            return std::nullopt;
        }
        const double ahead = days_of_workdays(*since_monday, static_cast<double>(steps)) * day;
        std::int64_t value = 0;
        if (!(ahead < 9e18) || __builtin_add_overflow(*last_, std::llround(ahead), &value)) {
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
        if (!stamp && (is_compact_ || !last_)) {
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
        return style_ ? std::nullopt : read_number(text);
    }

    void decide_order(const std::string& text) {
        using namespace totograph::io;
        const DateReading reading = date_reading(text);
        if (order_ || last_ || reading.can_be_day_first == reading.can_be_month_first) {
            return;
        }
        order_ = reading.can_be_day_first ? DateOrder::day_first : DateOrder::month_first;
    }

    /// A number in units of the last decimal that any so far has: many programs leave out zeros at the end.
    std::optional<std::int64_t> read_number(const std::string& text) {
        using namespace totograph::io;
        const Decimal number = parse_decimal(text);
        const int decimals =
            number.kind == DecimalKind::number ? meant_decimals(text, number.value) : decimals_of(text);
        if (!last_) {
            decimals_ = decimals;
        } else if (decimals > decimals_ && number.kind == DecimalKind::number) {
            count_finer(decimals);
        }
        if (number.kind == DecimalKind::number && decimals_ > 0) {
            int most = decimals_;
            while (most > 0 && std::abs(number.value) * std::pow(10.0, most) >= bound) {
                --most;
            }
            count_coarser(most);
        }
        const std::optional<std::int64_t> count =
            decimals_ == 0 && parse_whole_number(text) ? parse_whole_number(text) : parse_count(text, decimals_);
        if (count || number.kind != DecimalKind::number || decimals_of(text) <= decimals_) {
            return count;
        }
        constexpr double rounding = 1e-6;  // of numbers that are written with more digits than they have
        const double scaled = std::floor(number.value * std::pow(10.0, decimals_) + rounding);
        return std::abs(scaled) < bound ? std::optional(static_cast<std::int64_t>(scaled)) : std::nullopt;
    }

    /// Decimals of a number, as many as are counted; of one with more digits than a double holds, without what is its
    /// rounding.
    static int meant_decimals(const std::string& text, double value) {
        using namespace totograph::io;
        const int written = decimals_of(text);
        if (written <= most_decimals) {
            return written;
        }
        char digits[64];
        std::snprintf(digits, sizeof(digits), "%.15g", value);
        return std::min(decimals_of(digits), most_decimals);
    }

    /// What was counted so far.
    std::vector<std::int64_t*> counts() {
        std::vector<std::int64_t*> result;
        for (std::optional<std::int64_t>* one : {&last_, &held_, &late_}) {
            if (*one) {
                result.push_back(&**one);
            }
        }
        for (std::int64_t& one : recent_) {
            result.push_back(&one);
        }
        return result;
    }
    static std::int64_t power_of_ten(int exponent) {
        std::int64_t result = 1;
        for (int i = 0; i < exponent; ++i) {
            result *= 10;
        }
        return result;
    }
    void scale_gaps(double factor) {
        for (double& gap : gaps_) {
            gap *= factor;
        }
        for (double& pause : pauses_) {
            pause *= factor;
        }
    }

    /// Counts so many decimals from now on, where what was counted has room for them.
    void count_finer(int decimals) {
        const std::int64_t factor = power_of_ten(decimals - decimals_);
        const std::int64_t most = static_cast<std::int64_t>(bound) / factor;
        const std::vector<std::int64_t*> all = counts();
        if (std::all_of(all.begin(), all.end(),
                        [&](const std::int64_t* one) { return *one <= most && *one >= -most; })) {
            decimals_ = decimals;
            for (std::int64_t* const one : all) {
                *one *= factor;
            }
            scale_gaps(static_cast<double>(factor));
        }
    }
    /// Counts no more than so many decimals from now on.
    void count_coarser(int decimals) {
        if (decimals >= decimals_) {
            return;
        }
        const std::int64_t factor = power_of_ten(decimals_ - decimals);
        decimals_ = decimals;
        for (std::int64_t* const one : counts()) {
            *one = *one / factor - (*one % factor < 0 ? 1 : 0);
        }
        scale_gaps(1.0 / static_cast<double>(factor));
    }

    /// Takes a timestamp after the last one.
    Tick accept(std::int64_t now) {
        Tick tick;
        if (last_) {
            const double gap = distance(*last_, now);
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
        last_ = now;
        late_.reset();
        recent_.push_back(now);
        if (recent_.size() > most_recent) {
            recent_.erase(recent_.begin());
        }
        return tick;
    }

    /// One pause says nothing about the rhythm; many alike, with nothing between them, are the new one.
    void learn(double gap, bool is_pause) {
        if (!is_pause) {
            gaps_[taken_++ % gaps_.size()] = gap;
            paused_ = 0;
            return;
        }
        pauses_[paused_++ % pauses_.size()] = gap;
        const auto [shortest, longest] = std::minmax_element(pauses_.begin(), pauses_.end());
        if (paused_ >= pauses_.size() && *longest <= *shortest * 3 / 2) {
            std::copy(pauses_.begin(), pauses_.end(), gaps_.begin());
            taken_ = pauses_.size();
            paused_ = 0;
        }
    }

    /// 0 until so many gaps are known.
    [[nodiscard]] double interval(std::size_t least) const {
        const std::size_t count = std::min(taken_, gaps_.size());
        if (count < least) {
            return 0;
        }
        std::array<double, 32> sorted = gaps_;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
        std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
        return *middle;
    }

    std::optional<std::int64_t> last_;
    std::optional<std::int64_t> held_;                           // far ahead of the last
    std::optional<std::int64_t> late_;                           // the newest late one since the last
    std::optional<totograph::io::TimestampStyle> style_;         // of all that were taken
    std::optional<totograph::io::TimestampStyle> newest_style_;  // the same with the one that was read last
    std::optional<totograph::io::DateOrder> order_;
    bool as_is_ = false;
    std::size_t date_digits_ = 0;
    static constexpr int most_decimals = 9;
    static constexpr double bound = 4e18;  ///< Of what is counted, with room for what is added to it.
    int decimals_ = 0;
    bool is_compact_ = false;
    static constexpr std::size_t most_recent = 24;
    std::vector<std::int64_t> recent_;  // the last ones that were taken
    std::array<double, 32> gaps_{};
    std::size_t taken_ = 0;
    std::array<double, 8> pauses_{};  // the last gaps, as long as all are pauses
    std::size_t paused_ = 0;
};

}  // namespace examples
