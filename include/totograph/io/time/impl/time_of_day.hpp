// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/time_of_day.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>
#include <totograph/io/time/field_reader.hpp>
#include <totograph/io/time/timestamp_style.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE bool begins_with_touching_date(std::string_view text) {
    const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
    return text.size() > 9 && std::all_of(text.begin(), text.begin() + 8, is_digit) &&
           (text[8] == 'T' || text[8] == ' ') && is_digit(text[9]);
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

}  // namespace detail

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

}  // namespace totograph::io
