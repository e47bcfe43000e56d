// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../shared/timestamp.hpp"

namespace examples {

/// Puts lines in order by their timestamps and learns how far apart they are: the median of the last intervals.
class StreamClock {
public:
    /// How a line stands to the one before it.
    struct Tick {
        bool is_readable = true;
        bool is_late = false;
        std::int64_t skipped = 0;  ///< Steps between the two that no line came for.
    };

    /// Takes the next line's timestamp, an ISO-8601 one or a whole number. A late or unreadable one changes nothing.
    Tick advance(const std::string& text) {
        const std::optional<std::int64_t> now = read(text);
        if (!now) {
            return {.is_readable = false};
        }
        Tick tick;
        if (last_) {
            const double gap = static_cast<double>(*now) - static_cast<double>(*last_);
            if (gap <= 0) {
                return {.is_late = true};
            }
            if (const double usual = interval(); usual > 0) {
                tick.skipped = static_cast<std::int64_t>(std::min(std::round(gap / usual), 1e15)) - 1;
                tick.skipped = std::max<std::int64_t>(tick.skipped, 0);
            }
            // A pause says nothing about the rhythm.
            if (tick.skipped == 0) {
                gaps_[taken_++ % gaps_.size()] = gap;
            }
        }
        last_ = now;
        return tick;
    }

    /// The timestamp `steps` after the last line; "+steps" as long as the rhythm is not known.
    [[nodiscard]] std::string later(std::int64_t steps) const {
        const double usual = interval();
        const double at = static_cast<double>(last_.value_or(0)) + usual * static_cast<double>(steps);
        if (!(usual > 0) || at > 9e18) {
            return "+" + std::to_string(steps);
        }
        const std::int64_t value = *last_ + std::llround(usual * static_cast<double>(steps));
        return style_ ? timestamp_text(value, *style_) : std::to_string(value);
    }

private:
    std::optional<std::int64_t> read(const std::string& text) {
        if (const std::optional<Timestamp> stamp = parse_timestamp(text)) {
            style_ = stamp->style;
            return stamp->instant;
        }
        return style_ ? std::nullopt : parse_whole_number(text);
    }

    /// 0 until a few lines have come.
    [[nodiscard]] double interval() const {
        const std::size_t count = std::min(taken_, gaps_.size());
        if (count < 3) {
            return 0;
        }
        std::array<double, 32> sorted = gaps_;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
        std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
        return *middle;
    }

    std::optional<std::int64_t> last_;
    std::optional<TimestampStyle> style_;
    std::array<double, 32> gaps_{};
    std::size_t taken_ = 0;
};

}  // namespace examples
