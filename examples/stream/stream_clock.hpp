// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "../common/timestamp.hpp"

namespace examples {

/// Puts lines in order by their timestamps and learns how far apart they are: the median of the last intervals. A line
/// far ahead of the one before it is held back until the next one tells a pause from a wrong timestamp.
class StreamClock {
public:
    /// A line more steps ahead than this is held back.
    static constexpr double far_steps = 100;

    /// How a line stands to the one before it.
    struct Tick {
        bool is_readable = true;
        bool is_late = false;
        bool is_held = false;      ///< Far ahead: `settle` with the next timestamp tells what becomes of the line.
        bool is_refuted = false;   ///< It was held back, and its timestamp is wrong.
        std::int64_t skipped = 0;  ///< Steps between the two that no line came for.
    };

    /// What becomes of the line that is held back, now that the next one's timestamp is known; nothing when none is
    /// held back, and while the next ones do not tell. To be called before `advance` of the same timestamp.
    std::optional<Tick> settle(const std::string& next) {
        const std::optional<std::int64_t> now = held_ ? read(next) : std::nullopt;
        if (!now || *now <= *last_ || *now == *held_) {
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

    /// Takes the next line's timestamp, an ISO-8601 one or a whole number. A late or unreadable one changes nothing.
    Tick advance(const std::string& text) {
        const std::optional<std::int64_t> now = read(text);
        if (!now) {
            return {.is_readable = false};
        }
        if (last_ && *now <= *last_) {
            // The first lines may be wrong, and all others right: two that ascend are believed then.
            const bool is_restart = taken_ < 2 && late_ && *late_ < *now;
            if (!is_restart) {
                late_ = now;
                return {.is_late = true};
            }
            last_ = late_;
            held_.reset();
            taken_ = 0;
        } else if (held_ && *now == *held_) {
            return {.is_late = true};
        } else if (last_ && taken_ > 0 && distance(*last_, *now) > far_steps * interval(1)) {
            held_ = now;
            return {.is_held = true};
        }
        return accept(*now);
    }

    /// The timestamp `steps` after the last line; "+steps" as long as the rhythm is not known.
    [[nodiscard]] std::string later(std::int64_t steps) const {
        const double usual = interval(3);
        const double at = static_cast<double>(last_.value_or(0)) + usual * static_cast<double>(steps);
        if (!(usual > 0) || at > 9e18) {
            return "+" + std::to_string(steps);
        }
        const std::int64_t value = *last_ + std::llround(usual * static_cast<double>(steps));
        return style_ ? timestamp_text(value, *style_) : std::to_string(value);
    }

private:
    /// `to` is after `from`. Exact for neighbours however large both are, and never too large.
    static double distance(std::int64_t from, std::int64_t to) {
        return static_cast<double>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from));
    }

    std::optional<std::int64_t> read(const std::string& text) {
        if (const std::optional<Timestamp> stamp = parse_timestamp(text)) {
            style_ = stamp->style;
            return stamp->instant;
        }
        return style_ ? std::nullopt : parse_whole_number(text);
    }

    /// Takes a timestamp after the last one.
    Tick accept(std::int64_t now) {
        Tick tick;
        if (last_) {
            const double gap = distance(*last_, now);
            if (const double usual = interval(3); usual > 0) {
                tick.skipped = static_cast<std::int64_t>(std::min(std::round(gap / usual), 1e15)) - 1;
                tick.skipped = std::max<std::int64_t>(tick.skipped, 0);
            }
            learn(gap, tick.skipped > 0);
        }
        last_ = now;
        late_.reset();
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
    std::optional<std::int64_t> held_;  // far ahead of the last
    std::optional<std::int64_t> late_;  // the newest late one since the last
    std::optional<TimestampStyle> style_;
    std::array<double, 32> gaps_{};
    std::size_t taken_ = 0;
    std::array<double, 8> pauses_{};  // the last gaps, as long as all are pauses
    std::size_t paused_ = 0;
};

}  // namespace examples
