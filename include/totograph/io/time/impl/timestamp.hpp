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
#include <totograph/io/time/field_reader.hpp>
#include <totograph/io/time/month_names.hpp>
#include <totograph/io/time/named_date.hpp>
#include <totograph/io/time/time_of_day.hpp>
#include <totograph/io/time/timestamp_style.hpp>

namespace totograph::io {
namespace detail {

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

TOTOGRAPH_INLINE std::string timestamp_text(std::int64_t instant, const TimestampStyle& style) {
    const ClockTime clock = clock_time(instant, style.offset_seconds);
    if (!style.has_time) {
        return date_text(clock.date, style);
    }
    return date_text(clock.date, style) + style.separator + time_of_day_text(clock.nanosecond_of_day, style) +
           style.zone;
}

}  // namespace totograph::io
