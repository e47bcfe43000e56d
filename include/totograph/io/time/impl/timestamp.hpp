// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/timestamp.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/core/inline.hpp>
#include <totograph/io/time/month_names.hpp>
#include <totograph/io/time/named_date.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE std::size_t FieldReader::numeral(std::size_t most, std::int64_t& value) {
    value = 0;
    std::size_t count = 0;
    for (; count < most && count < text_.size() && text_[count] >= '0' && text_[count] <= '9'; ++count) {
        value = value * 10 + (text_[count] - '0');
    }
    text_.remove_prefix(count);
    return count;
}

TOTOGRAPH_INLINE bool FieldReader::symbol(char wanted) {
    if (text_.empty() || text_.front() != wanted) {
        return false;
    }
    text_.remove_prefix(1);
    return true;
}

TOTOGRAPH_INLINE bool FieldReader::word(std::string_view wanted) {
    const bool is_there = text_.starts_with(wanted);
    text_.remove_prefix(is_there ? wanted.size() : 0);
    return is_there;
}

TOTOGRAPH_INLINE bool begins_with_touching_date(std::string_view text) {
    const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
    return text.size() > 9 && std::all_of(text.begin(), text.begin() + 8, is_digit) &&
           (text[8] == 'T' || text[8] == ' ') && is_digit(text[9]);
}

TOTOGRAPH_INLINE bool read_date(FieldReader& reader, DateFields& fields, TimestampStyle& style) {
    if (begins_with_touching_date(reader.rest())) {
        fields.begins_with_year = true;
        style.date_separator = '\0';
        return reader.digits(4, fields.parts[0]) && reader.digits(2, fields.parts[1]) &&
               reader.digits(2, fields.parts[2]);
    }
    const std::size_t first = reader.numeral(4, fields.parts[0]);
    fields.begins_with_year = first == 4;
    style.date_separator = reader.symbol('-') ? '-' : reader.symbol('/') ? '/' : '.';
    if ((first != 4 && first != 2 && first != 1) || (style.date_separator == '.' && !reader.symbol('.'))) {
        return false;
    }
    const std::size_t second = reader.numeral(2, fields.parts[1]);
    if (second == 0) {
        return false;
    }
    if (!reader.symbol(style.date_separator)) {
        fields.parts[2] = 1;
        style.has_day = false;
        // "2026.11" is a number.
        return fields.begins_with_year && second == 2 && style.date_separator != '.' && reader.done();
    }
    const std::size_t third = reader.numeral(4, fields.parts[2]);
    const bool has_year = fields.begins_with_year ? third == 1 || third == 2 : third == 2 || third == 4;
    style.has_century = fields.begins_with_year || third == 4;
    style.has_two_digits = second == 2 && (fields.begins_with_year ? third : first) == 2;
    if (!style.has_century) {
        fields.parts[2] += fields.parts[2] < 69 ? 2000 : 1900;
    }
    return has_year;
}

TOTOGRAPH_INLINE bool read_fraction(FieldReader& reader, TimestampStyle& style, std::int64_t& nanoseconds) {
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

TOTOGRAPH_INLINE HalfDay read_half_day(FieldReader& reader, TimestampStyle& style, bool is_first) {
    // Blanks that break no line stand there where programs follow Unicode's tables.
    constexpr std::array<std::string_view, 4> blanks = {" ", "\u00a0", "\u202f", ""};
    const std::string_view text = reader.rest();
    if (text.empty() || (text[0] >= '0' && text[0] <= '9') || text[0] == 'Z' || text[0] == '+' || text[0] == '-') {
        return HalfDay::none;
    }
    const auto is_at = [&](std::size_t position, std::string_view word) {
        return text.substr(std::min(position, text.size())).starts_with(word);
    };
    for (const HalfDayWords& words : half_day_words) {
        if (words.is_first != is_first) {
            continue;
        }
        for (const std::string_view blank : blanks) {
            const std::size_t word_at = is_first ? 0 : blank.size();
            const bool is_morning = is_at(word_at, words.morning);
            const std::string_view word = is_morning ? words.morning : words.evening;
            const bool is_there = is_at(word_at, word) && is_at(is_first ? word.size() : 0, blank);
            if (!is_there) {
                continue;
            }
            style.half_day = &words;
            style.half_day_blank = blank;
            reader.word(text.substr(0, blank.size() + word.size()));
            return is_morning ? HalfDay::morning : HalfDay::evening;
        }
    }
    return HalfDay::none;
}

TOTOGRAPH_INLINE bool read_time_word(FieldReader& reader, TimestampStyle& style, std::size_t unit) {
    if (reader.done() || (static_cast<unsigned char>(reader.rest()[0]) & 0x80U) == 0) {
        return false;
    }
    // With the blank that may stand before the next number.
    constexpr std::array<std::array<std::string_view, 6>, 3> words = {{{"时 ", "時 ", "시 ", "时", "時", "시"},
                                                                       {"分 ", "分 ", "분 ", "分", "分", "분"},
                                                                       {"秒", "秒", "초", "秒", "秒", "초"}}};
    const auto is_next = [&](std::string_view word) {
        const std::string_view behind = reader.rest().substr(std::min(word.size(), reader.rest().size()));
        const bool is_before_digit = !behind.empty() && behind[0] >= '0' && behind[0] <= '9';
        return reader.rest().starts_with(word) && (!word.ends_with(' ') || is_before_digit);
    };
    const auto found = std::find_if(words[unit].begin(), words[unit].end(), is_next);
    if (found == words[unit].end()) {
        return false;
    }
    style.time_words[unit] = *found;
    return reader.word(*found);
}

TOTOGRAPH_INLINE bool has_hour_word(std::string_view text) {
    const bool is_ascii = std::none_of(text.begin(), text.end(),
                                       [](char byte) { return (static_cast<unsigned char>(byte) & 0x80U) != 0; });
    if (is_ascii) {
        return false;
    }
    return text.find("时") != std::string_view::npos || text.find("時") != std::string_view::npos ||
           text.find("시") != std::string_view::npos;
}

TOTOGRAPH_INLINE bool begins_with_minutes_behind_point(std::string_view text) {
    FieldReader reader(text);
    std::int64_t minutes = 0;
    return reader.symbol('.') && reader.digits(2, minutes) &&
           (reader.done() || reader.rest().starts_with('.') || reader.rest().starts_with(' '));
}

TOTOGRAPH_INLINE bool read_worded_minutes(FieldReader& reader, TimestampStyle& style, std::int64_t& minutes,
                                          std::int64_t& seconds) {
    style.has_minutes = reader.numeral(2, minutes) > 0;
    if (style.has_minutes && !read_time_word(reader, style, 1)) {
        return false;
    }
    style.has_seconds = style.has_minutes && reader.numeral(2, seconds) > 0;
    return !style.has_seconds || read_time_word(reader, style, 2);
}

TOTOGRAPH_INLINE bool read_zone(FieldReader& reader, TimestampStyle& style) {
    style.zone = std::string(reader.rest());
    reader.symbol(' ');
    if (reader.done() || reader.symbol('Z') || reader.word("UTC") || reader.word("GMT")) {
        return reader.done() && !style.zone.ends_with(' ');
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

TOTOGRAPH_INLINE bool read_minutes(FieldReader& reader, TimestampStyle& style, std::int64_t& minutes,
                                   std::int64_t& seconds) {
    // Behind "T", as ISO 8601 has it, and behind a date in digits alone a point is a decimal one.
    style.has_time_points = style.separator.ends_with(' ') && style.date_separator != '\0' &&
                            begins_with_minutes_behind_point(reader.rest());
    const char mark = style.has_time_points ? '.' : ':';
    const auto is_behind_mark = [&] { return style.has_colons && reader.symbol(mark); };
    const auto is_next_digit = [&] {
        return !style.has_colons && !reader.done() && reader.rest()[0] >= '0' && reader.rest()[0] <= '9';
    };
    style.has_colons = style.date_separator != '\0' || !style.has_two_digit_hours || reader.rest().starts_with(mark);
    style.has_minutes = style.has_colons || style.separator != "T" || is_next_digit();
    if (style.has_minutes && !((is_behind_mark() || !style.has_colons) && reader.digits(2, minutes))) {
        return false;
    }
    style.has_seconds = style.has_minutes && (is_behind_mark() || is_next_digit());
    return !style.has_seconds || reader.digits(2, seconds);
}

TOTOGRAPH_INLINE bool read_time(FieldReader& reader, TimestampStyle& style, std::int64_t& nanoseconds) {
    style.has_time = true;
    style.separator = reader.word("T") ? "T" : reader.word(", ") ? ", " : reader.symbol(' ') ? " " : "";
    const auto ends_with = [&](std::string_view word) { return style.pattern.ends_with(word); };
    if (style.separator.empty() && !ends_with("日") && !ends_with("号") && !ends_with("일")) {
        return false;
    }
    HalfDay half = read_half_day(reader, style, true);
    std::int64_t hours = 0, minutes = 0, seconds = 0, fraction = 0;
    const std::size_t hour_digits = reader.numeral(2, hours);
    style.has_two_digit_hours = hour_digits == 2;
    const bool is_worded = hour_digits > 0 && read_time_word(reader, style, 0);
    const bool has_minutes = is_worded ? read_worded_minutes(reader, style, minutes, seconds)
                                       : read_minutes(reader, style, minutes, seconds);
    if (hour_digits == 0 || !has_minutes) {
        return false;
    }
    const bool has_fraction = style.has_seconds && !is_worded && (reader.symbol('.') || reader.symbol(','));
    if (has_fraction && !read_fraction(reader, style, fraction)) {
        return false;
    }
    half = half == HalfDay::none ? read_half_day(reader, style, false) : half;
    if (half != HalfDay::none) {
        // Before the time noon may be hour 0 of the second half.
        if (hours > 12 || (hours == 0 && !style.half_day->is_first)) {
            return false;
        }
        style.noon = hours % 12 == 0 ? std::optional(hours) : std::nullopt;
        hours = hours % 12 + (half == HalfDay::evening ? 12 : 0);
    }
    const bool is_end_of_day = hours == 24 && minutes + seconds + fraction == 0;
    if (!read_zone(reader, style) || (hours > 23 && !is_end_of_day) || minutes > 59 || seconds > 60) {
        return false;
    }
    nanoseconds = (hours * 3600 + minutes * 60 + seconds) * nanoseconds_per_second + fraction;
    return true;
}

TOTOGRAPH_INLINE std::optional<std::chrono::sys_days> day_of(std::int64_t year, std::int64_t month, std::int64_t day) {
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok() || year < 1700 || year > 2250) {
        return std::nullopt;
    }
    return std::chrono::sys_days(date);
}

TOTOGRAPH_INLINE std::optional<Timestamp> read_behind_date(const std::optional<std::chrono::sys_days>& day,
                                                           std::string_view rest, Timestamp stamp) {
    FieldReader reader(rest);
    std::int64_t nanoseconds = 0;
    if (!day || (!reader.done() && !read_time(reader, stamp.style, nanoseconds))) {
        return std::nullopt;
    }
    const std::int64_t seconds = day->time_since_epoch().count() * seconds_per_day - stamp.style.offset_seconds;
    stamp.instant = seconds * nanoseconds_per_second + nanoseconds;
    return stamp;
}

}  // namespace detail

TOTOGRAPH_INLINE DateReading date_reading(std::string_view text) {
    detail::FieldReader reader(text);
    detail::DateFields fields;
    TimestampStyle style;
    std::int64_t time = 0;
    if (!detail::read_date(reader, fields, style) || fields.begins_with_year ||
        (!reader.done() && !detail::read_time(reader, style, time))) {
        return {};
    }
    const auto& [first, second, year] = fields.parts;
    // Only days and never months come first before points.
    return {.can_be_month_first = style.date_separator != '.' && detail::day_of(year, first, second).has_value(),
            .can_be_day_first = detail::day_of(year, second, first).has_value()};
}

TOTOGRAPH_INLINE std::optional<Timestamp> parse_timestamp(std::string_view text, DateOrder order) {
    Timestamp stamp;
    TimestampStyle& style = stamp.style;
    if (const std::optional<NamedDate> named = take_named_date(text)) {
        style.pattern = named->pattern;
        style.month_spellings = named->month_spellings;
        style.has_day = named->has_day;
        return detail::read_behind_date(detail::day_of(named->year, named->month, named->day), text, std::move(stamp));
    }
    detail::FieldReader reader(text);
    detail::DateFields fields;
    if (!detail::read_date(reader, fields, style)) {
        return std::nullopt;
    }
    style.order = fields.begins_with_year ? DateOrder::year_first : order;
    if (!fields.begins_with_year && order == DateOrder::year_first) {
        return std::nullopt;
    }
    const auto& [first, second, third] = fields.parts;
    const auto day = style.order == DateOrder::year_first    ? detail::day_of(first, second, third)
                     : style.order == DateOrder::month_first ? detail::day_of(third, first, second)
                                                             : detail::day_of(third, second, first);
    return detail::read_behind_date(day, reader.rest(), std::move(stamp));
}

TOTOGRAPH_INLINE void join_style(TimestampStyle& later, const TimestampStyle& earlier) {
    later.has_two_digits = later.has_two_digits && earlier.has_two_digits;
    join_pattern(later.pattern, earlier.pattern);
    later.month_spellings = join_spellings(later.month_spellings, earlier.month_spellings);
    const bool is_alike = later.has_day && later.pattern.empty() == earlier.pattern.empty();
    if (earlier.has_time && !later.has_time && is_alike) {
        const bool has_two_digits = later.has_two_digits;
        const MonthSpellingSet spellings = later.month_spellings;
        std::string pattern = std::move(later.pattern);
        later = earlier;
        later.month_spellings = spellings;
        later.has_two_digits = has_two_digits;
        later.pattern = std::move(pattern);
    }
    later.has_two_digit_hours = later.has_two_digit_hours && earlier.has_two_digit_hours;
    later.has_minutes = later.has_minutes || (earlier.has_time && earlier.has_minutes);
    later.has_seconds = later.has_seconds || earlier.has_seconds;
    later.noon = later.noon ? later.noon : earlier.noon;
    for (std::size_t unit = 0; unit < later.time_words.size() && !later.time_words[0].empty(); ++unit) {
        later.time_words[unit] = later.time_words[unit].empty() ? earlier.time_words[unit] : later.time_words[unit];
    }
    later.fraction_digits = std::max(later.fraction_digits, earlier.fraction_digits);
}

TOTOGRAPH_INLINE ClockTime clock_time(std::int64_t instant, std::int64_t offset_seconds) {
    using namespace std::chrono;
    // In seconds first: near the ends of the range an instant has no room for the offset.
    std::int64_t second = instant / nanoseconds_per_second;
    std::int64_t nanosecond = instant % nanoseconds_per_second;
    if (nanosecond < 0) {
        --second;
        nanosecond += nanoseconds_per_second;
    }
    second += offset_seconds;
    std::int64_t day_number = second / seconds_per_day;
    if (second % seconds_per_day < 0) {
        --day_number;
    }
    return {year_month_day(sys_days(days(static_cast<int>(day_number)))),
            (second - day_number * seconds_per_day) * nanoseconds_per_second + nanosecond};
}

TOTOGRAPH_INLINE std::string time_of_day_text(std::int64_t nanosecond_of_day, const TimestampStyle& style) {
    const std::int64_t second_of_day = nanosecond_of_day / nanoseconds_per_second;
    std::int64_t hour = second_of_day / 3600;
    const bool is_evening = hour >= 12;
    if (style.half_day != nullptr) {
        hour = hour % 12 == 0 ? style.noon.value_or(style.half_day->noon) : hour % 12;
    }
    std::string text = style.has_two_digit_hours ? two_digits(hour) : std::to_string(hour);
    const bool is_worded = !style.time_words[0].empty();
    const std::string colon = !style.has_colons || is_worded ? "" : style.has_time_points ? "." : ":";
    text += style.time_words[0];
    if (style.has_minutes) {
        text += colon + two_digits(second_of_day / 60 % 60);
        text += style.time_words[1];
    }
    if (style.has_seconds) {
        text += colon + two_digits(second_of_day % 60);
        text += style.time_words[2];
    }
    if (style.fraction_digits > 0) {
        std::string fraction = std::to_string(nanosecond_of_day % nanoseconds_per_second);
        fraction.insert(0, 9 - fraction.size(), '0');
        text += "." + fraction.substr(0, static_cast<std::size_t>(style.fraction_digits));
    }
    if (style.half_day == nullptr) {
        return text;
    }
    const std::string half_day(is_evening ? style.half_day->evening : style.half_day->morning);
    const std::string blank(style.half_day_blank);
    return style.half_day->is_first ? half_day + blank + text : text + blank + half_day;
}

TOTOGRAPH_INLINE std::string date_text(const std::chrono::year_month_day& date, const TimestampStyle& style) {
    if (!style.pattern.empty()) {
        return named_date_text(date, style.pattern, style.month_spellings);
    }
    const auto part = [&](unsigned value) { return style.has_two_digits ? two_digits(value) : std::to_string(value); };
    std::array<char, 16> year{};
    std::snprintf(year.data(), year.size(), "%04d", static_cast<int>(date.year()));
    const std::string years = style.has_century ? year.data() : year.data() + 2;
    const std::string month = part(static_cast<unsigned>(date.month()));
    const std::string day = part(static_cast<unsigned>(date.day()));
    const std::string mark(style.date_separator == '\0' ? 0 : 1, style.date_separator);
    switch (style.order) {
        case DateOrder::month_first: return month + mark + day + mark + years;
        case DateOrder::day_first: return day + mark + month + mark + years;
        case DateOrder::year_first: break;
    }
    return years + mark + month + (style.has_day ? mark + day : "");
}

TOTOGRAPH_INLINE bool has_time_of_day(std::string_view text) {
    if (text.find(':') != std::string_view::npos || detail::begins_with_touching_date(text) ||
        detail::has_hour_word(text)) {
        return true;
    }
    for (std::size_t blank = text.find(' '); blank != std::string_view::npos; blank = text.find(' ', blank + 1)) {
        detail::FieldReader reader(text.substr(blank + 1));
        std::int64_t hours = 0;
        if (reader.numeral(2, hours) > 0 && detail::begins_with_minutes_behind_point(reader.rest())) {
            return true;
        }
    }
    return false;
}

TOTOGRAPH_INLINE std::string timestamp_text(std::int64_t instant, const TimestampStyle& style) {
    const ClockTime clock = clock_time(instant, style.offset_seconds);
    if (!style.has_time) {
        return date_text(clock.date, style);
    }
    return date_text(clock.date, style) + style.separator + time_of_day_text(clock.nanosecond_of_day, style) +
           style.zone;
}

}  // namespace totograph::io
