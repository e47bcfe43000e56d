// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <totograph/io/time/field_reader.hpp>
#include <totograph/io/time/time_of_day.hpp>
#include <totograph/io/time/timestamp_style.hpp>

namespace totograph::io {

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

/// What a date that begins with its month or day could mean.
struct DateReading {
    bool can_be_month_first = false;
    bool can_be_day_first = false;
};

namespace detail {

/// The parts of a date as they stand.
struct DateFields {
    std::array<std::int64_t, 3> parts{};
    bool begins_with_year = false;
};

/// Reads "2026-11-21", "2026/1/5", "2026-11", "21.11.2026", "11/21/26" and the like, and "20261121" before a time.
bool read_date(FieldReader& reader, DateFields& fields, TimestampStyle& style);

std::optional<std::chrono::sys_days> day_of(std::int64_t year, std::int64_t month, std::int64_t day);

/// Adds the time of day and the zone behind a date, where there are any.
std::optional<Timestamp> read_behind_date(const std::optional<std::chrono::sys_days>& day, std::string_view rest,
                                          Timestamp stamp);

}  // namespace detail

/// How a timestamp that does not begin with its year can be read; both `false` where it is none.
DateReading date_reading(std::string_view text);

/// Reads "2026-11-21", "2026-11-21T02:13", "2026/11/21 02:13:41.250+01:00" and the like, and dates that do not begin
/// with their year ("21.11.2026 2:13", "11/21/2026, 2:13:41 PM") in the order `order`; and dates with the name of a
/// month, and quarters ("05-Jan-2024 2:13", "Jan 5, 2024", "Mon, 05 Jan 2026 02:13:41 +0000", "2024 Jan", "2024-Q1",
/// "5. März 2024", "janv. 2024", and further ones in the languages of `month_spellings`); and weeks and dates with
/// words behind their parts ("2024-W05", "2024年1月5日 14時30分", "2024. 1. 5. 오후 2:30"); and ISO 8601 without marks
/// where a time follows ("20261121T021341Z", "20261121 02:13"). The time 24:00 is midnight at the end of its day.
/// Nothing where the text is something else or lies outside the years 1700 to 2250 (the reach of 64-bit nanoseconds).
std::optional<Timestamp> parse_timestamp(std::string_view text, DateOrder order = DateOrder::year_first);

/// The date and time of day of an instant on a clock `offset_seconds` ahead of UTC.
ClockTime clock_time(std::int64_t instant, std::int64_t offset_seconds);

/// Adds to a spelling what it cannot show by itself and an earlier one of the same column does. "11/21/2026" does not
/// tell if days may have one digit, and many programs leave out seconds or decimals that are zero, and midnight.
void join_style(TimestampStyle& later, const TimestampStyle& earlier);

/// "2026-11-21", or as `style` asks.
std::string date_text(const std::chrono::year_month_day& date, const TimestampStyle& style = {});

/// An instant in the spelling of another timestamp.
std::string timestamp_text(std::int64_t instant, const TimestampStyle& style);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/timestamp.hpp>
#endif
