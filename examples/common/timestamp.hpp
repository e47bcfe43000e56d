// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace examples {

inline constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
inline constexpr std::int64_t seconds_per_day = 86'400;

/// How an ISO-8601 timestamp was spelled, so that continued ones are spelled alike.
struct TimestampStyle {
    bool has_time = false;
    bool has_seconds = false;
    char separator = 'T';
    int fraction_digits = 0;
    std::string zone;                 ///< "", "Z", "+02:00", "+0200" or "+02"
    std::int64_t offset_seconds = 0;  ///< what the zone adds to UTC
};

/// An instant in nanoseconds since 1970-01-01T00:00Z (a timestamp without a zone counts as UTC), and its spelling.
struct Timestamp {
    std::int64_t instant = 0;
    TimestampStyle style;
};

/// A day and a time of day on the clock of a zone.
struct ClockTime {
    std::chrono::year_month_day date{};
    std::int64_t nanosecond_of_day = 0;
};

namespace detail {

/// Reads fixed fields off the front of a text; each function says whether the field was there.
class FieldReader {
public:
    explicit FieldReader(std::string_view text) : text_(text) {}

    bool digits(std::size_t count, std::int64_t& value) {
        if (text_.size() < count) {
            return false;
        }
        value = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (text_[i] < '0' || text_[i] > '9') {
                return false;
            }
            value = value * 10 + (text_[i] - '0');
        }
        text_.remove_prefix(count);
        return true;
    }
    bool symbol(char wanted) {
        if (text_.empty() || text_.front() != wanted) {
            return false;
        }
        text_.remove_prefix(1);
        return true;
    }
    [[nodiscard]] bool done() const { return text_.empty(); }
    [[nodiscard]] std::string_view rest() const { return text_; }

private:
    std::string_view text_;
};

inline bool read_fraction(FieldReader& reader, TimestampStyle& style, std::int64_t& nanoseconds) {
    std::int64_t digit = 0;
    std::int64_t unit = nanoseconds_per_second / 10;
    while (reader.digits(1, digit)) {
        nanoseconds += digit * unit;
        unit /= 10;
        if (++style.fraction_digits > 9) {
            return false;
        }
    }
    return style.fraction_digits > 0;
}

inline bool read_zone(FieldReader& reader, TimestampStyle& style) {
    style.zone = std::string(reader.rest());
    if (reader.done() || reader.symbol('Z')) {
        return reader.done();
    }
    const std::int64_t sign = reader.symbol('-') ? -1 : reader.symbol('+') ? 1 : 0;
    std::int64_t hours = 0;
    std::int64_t minutes = 0;
    if (sign == 0 || !reader.digits(2, hours)) {
        return false;
    }
    if (!reader.done()) {
        reader.symbol(':');
        if (!reader.digits(2, minutes)) {
            return false;
        }
    }
    style.offset_seconds = sign * (hours * 3600 + minutes * 60);
    return reader.done() && hours < 24 && minutes < 60;
}

}  // namespace detail

/// Reads "2026-11-21", "2026-11-21T02:13", "2026-11-21 02:13:41.250+01:00" and the like; nothing where the text is
/// something else or lies outside the years 1700 to 2250 (the reach of 64-bit nanoseconds).
inline std::optional<Timestamp> parse_timestamp(std::string_view text) {
    using namespace std::chrono;
    detail::FieldReader reader(text);
    std::int64_t year_number = 0, month_number = 0, day_number = 0;
    if (!reader.digits(4, year_number) || !reader.symbol('-') || !reader.digits(2, month_number) ||
        !reader.symbol('-') || !reader.digits(2, day_number)) {
        return std::nullopt;
    }
    const year_month_day date{year(static_cast<int>(year_number)), month(static_cast<unsigned>(month_number)),
                              day(static_cast<unsigned>(day_number))};
    if (!date.ok() || year_number < 1700 || year_number > 2250) {
        return std::nullopt;
    }
    Timestamp stamp;
    TimestampStyle& style = stamp.style;
    std::int64_t hours = 0, minutes = 0, seconds = 0, nanoseconds = 0;
    if (!reader.done()) {
        style.has_time = true;
        style.separator = reader.symbol('T') ? 'T' : ' ';
        if (style.separator == ' ' && !reader.symbol(' ')) {
            return std::nullopt;
        }
        if (!reader.digits(2, hours) || !reader.symbol(':') || !reader.digits(2, minutes)) {
            return std::nullopt;
        }
        if (reader.symbol(':')) {
            style.has_seconds = true;
            if (!reader.digits(2, seconds)) {
                return std::nullopt;
            }
            if (reader.symbol('.') && !detail::read_fraction(reader, style, nanoseconds)) {
                return std::nullopt;
            }
        }
        if (!detail::read_zone(reader, style) || hours > 23 || minutes > 59 || seconds > 60) {
            return std::nullopt;
        }
    }
    const std::int64_t days = sys_days(date).time_since_epoch().count();
    const std::int64_t local = days * seconds_per_day + hours * 3600 + minutes * 60 + seconds;
    stamp.instant = (local - style.offset_seconds) * nanoseconds_per_second + nanoseconds;
    return stamp;
}

/// The date and time of day of an instant on a clock `offset_seconds` ahead of UTC.
inline ClockTime clock_time(std::int64_t instant, std::int64_t offset_seconds) {
    using namespace std::chrono;
    const std::int64_t day_length = seconds_per_day * nanoseconds_per_second;
    const std::int64_t local = instant + offset_seconds * nanoseconds_per_second;
    std::int64_t day_number = local / day_length;
    if (local % day_length < 0) {
        --day_number;
    }
    return {year_month_day(sys_days(days(static_cast<int>(day_number)))), local - day_number * day_length};
}

inline std::string two_digits(std::int64_t value) {
    return {static_cast<char>('0' + value / 10 % 10), static_cast<char>('0' + value % 10)};
}

/// "02:13", "02:13:41" or "02:13:41.250", as `style` asks.
inline std::string time_of_day_text(std::int64_t nanosecond_of_day, const TimestampStyle& style) {
    const std::int64_t second_of_day = nanosecond_of_day / nanoseconds_per_second;
    std::string text = two_digits(second_of_day / 3600) + ":" + two_digits(second_of_day / 60 % 60);
    if (style.has_seconds) {
        text += ":" + two_digits(second_of_day % 60);
    }
    if (style.fraction_digits > 0) {
        std::string fraction = std::to_string(nanosecond_of_day % nanoseconds_per_second);
        fraction.insert(0, 9 - fraction.size(), '0');
        text += "." + fraction.substr(0, static_cast<std::size_t>(style.fraction_digits));
    }
    return text;
}

/// "2026-11-21".
inline std::string date_text(const std::chrono::year_month_day& date) {
    std::array<char, 40> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02u", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    return buffer.data();
}

/// An instant in the spelling of another timestamp.
inline std::string timestamp_text(std::int64_t instant, const TimestampStyle& style) {
    const ClockTime clock = clock_time(instant, style.offset_seconds);
    if (!style.has_time) {
        return date_text(clock.date);
    }
    return date_text(clock.date) + style.separator + time_of_day_text(clock.nanosecond_of_day, style) + style.zone;
}

/// Reads a whole number: an epoch time or a counter.
inline std::optional<std::int64_t> parse_whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

}  // namespace examples
