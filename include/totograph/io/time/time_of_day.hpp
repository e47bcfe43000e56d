// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <totograph/io/time/field_reader.hpp>
#include <totograph/io/time/timestamp_style.hpp>

// The time of day behind a date, and its zone.

namespace totograph::io {

inline constexpr std::array<HalfDayWords, 10> half_day_words = {{{"AM", "PM"},
                                                                 {"am", "pm"},
                                                                 {"a.m.", "p.m."},
                                                                 {"a. m.", "p. m."},
                                                                 {"a.\u00a0m.", "p.\u00a0m."},
                                                                 {"π.μ.", "μ.μ."},
                                                                 {"ص", "م"},
                                                                 {"上午", "下午", true},
                                                                 {"午前", "午後", true, 0},
                                                                 {"오전", "오후", true}}};

namespace detail {

/// Whether a text begins with a date whose parts touch, and a time of day follows: "20261121T0213", "20261121 02:13".
bool begins_with_touching_date(std::string_view text);

bool read_fraction(FieldReader& reader, TimestampStyle& style, std::int64_t& nanoseconds);

/// The half of a day, and whether it is the second one.
enum class HalfDay { none, morning, evening };

/// Takes the half of a day from before or behind a time, with the blank between both.
HalfDay read_half_day(FieldReader& reader, TimestampStyle& style, bool is_first);

/// Takes a word of one unit of time, such as "時" behind hours (`unit` 0); false where another text follows.
bool read_time_word(FieldReader& reader, TimestampStyle& style, std::size_t unit);

/// Whether a text has such a word behind an hour.
bool has_hour_word(std::string_view text);

/// Whether a text begins with minutes behind a point, and ends there or goes on with seconds or a blank.
bool begins_with_minutes_behind_point(std::string_view text);

/// Reads minutes and seconds behind an hour and its word.
bool read_worded_minutes(FieldReader& reader, TimestampStyle& style, std::int64_t& minutes, std::int64_t& seconds);

bool read_zone(FieldReader& reader, TimestampStyle& style);

/// Reads minutes and seconds behind an hour. Behind a date whose parts touch, they may touch as well.
bool read_minutes(FieldReader& reader, TimestampStyle& style, std::int64_t& minutes, std::int64_t& seconds);

/// Reads the time of day behind a date, in nanoseconds, and the zone.
bool read_time(FieldReader& reader, TimestampStyle& style, std::int64_t& nanoseconds);

}  // namespace detail

inline std::string two_digits(std::int64_t value) {
    return {static_cast<char>('0' + value / 10 % 10), static_cast<char>('0' + value % 10)};
}

/// "02:13", "02:13:41", "02:13:41.250" or "2:13 AM", as `style` asks.
std::string time_of_day_text(std::int64_t nanosecond_of_day, const TimestampStyle& style);

/// Whether a time that `parse_timestamp` reads has a time of day behind its date.
bool has_time_of_day(std::string_view text);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/time_of_day.hpp>
#endif
