// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <totograph/io/time/month_names.hpp>

namespace totograph::io {

inline constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
inline constexpr std::int64_t seconds_per_day = 86'400;

/// In which order a date spells its parts.
enum class DateOrder {
    year_first,   ///< 2026-11-21, as ISO 8601 says; 2026/11/21 as well.
    month_first,  ///< 11/21/2026
    day_first     ///< 21.11.2026
};

/// How a language tells the halves of a day.
struct HalfDayWords {
    std::string_view morning;
    std::string_view evening;
    bool is_first = false;   ///< Whether they stand before the time.
    std::int64_t noon = 12;  ///< How noon and midnight are written where a column has neither: "12:00 PM", "午後0:00".
};
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

/// How a timestamp was spelled, so that continued ones are spelled alike.
struct TimestampStyle {
    DateOrder order = DateOrder::year_first;
    char date_separator = '-';   ///< '\0' where the parts touch
    bool has_two_digits = true;  ///< Of days and months: "2026-01-05", not "2026-1-5".
    bool has_century = true;     ///< "2026", not "26".
    bool has_day = true;         ///< "2026-01" has none.
    std::string pattern{};       ///< That of a `NamedDate`; "" for a date in digits.
    /// Those that the names of months in the column have in common; none for a date in digits.
    MonthSpellingSet month_spellings = 0;

    bool has_time = false;
    bool has_minutes = true;
    bool has_seconds = false;
    bool has_colons = true;        ///< "2026010514" and "20260105T1430" have none.
    bool has_time_points = false;  ///< In place of colons: "14.30".
    std::string separator = "T";   ///< between the date and the time
    bool has_two_digit_hours = true;
    const HalfDayWords* half_day = nullptr;        ///< None on a clock of 24 hours.
    std::string_view half_day_blank{};             ///< Between them and the time.
    std::optional<std::int64_t> noon{};            ///< The hour of noon and midnight beside them, 0 or 12.
    std::array<std::string_view, 3> time_words{};  ///< Behind hours, minutes, seconds, in place of colons: "14時30分".
    int fraction_digits = 0;
    std::string zone{};               ///< "", "Z", "+02:00", "+0200", "+02", " UTC"
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

/// What a date that begins with its month or day could mean.
struct DateReading {
    bool can_be_month_first = false;
    bool can_be_day_first = false;
};

namespace detail {

/// Reads fields off the front of a text; each function says whether the field was there.
class FieldReader {
public:
    explicit FieldReader(std::string_view text) : text_(text) {}

    bool digits(std::size_t count, std::int64_t& value) {
        return text_.size() >= count && numeral(count, value) == count;
    }
    /// Reads at most so many digits; returns how many there were.
    std::size_t numeral(std::size_t most, std::int64_t& value);
    bool symbol(char wanted);
    bool word(std::string_view wanted);
    [[nodiscard]] bool done() const { return text_.empty(); }
    [[nodiscard]] std::string_view rest() const { return text_; }

private:
    std::string_view text_;
};

/// The parts of a date as they stand.
struct DateFields {
    std::array<std::int64_t, 3> parts{};
    bool begins_with_year = false;
};

/// Whether a text begins with a date whose parts touch, and a time of day follows: "20261121T0213", "20261121 02:13".
bool begins_with_touching_date(std::string_view text);

/// Reads "2026-11-21", "2026/1/5", "2026-11", "21.11.2026", "11/21/26" and the like, and "20261121" before a time.
bool read_date(FieldReader& reader, DateFields& fields, TimestampStyle& style);

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

inline std::string two_digits(std::int64_t value) {
    return {static_cast<char>('0' + value / 10 % 10), static_cast<char>('0' + value % 10)};
}

/// Adds to a spelling what it cannot show by itself and an earlier one of the same column does. "11/21/2026" does not
/// tell if days may have one digit, and many programs leave out seconds or decimals that are zero, and midnight.
void join_style(TimestampStyle& later, const TimestampStyle& earlier);

/// "02:13", "02:13:41", "02:13:41.250" or "2:13 AM", as `style` asks.
std::string time_of_day_text(std::int64_t nanosecond_of_day, const TimestampStyle& style);

/// "2026-11-21", or as `style` asks.
std::string date_text(const std::chrono::year_month_day& date, const TimestampStyle& style = {});

/// Whether a time that `parse_timestamp` reads has a time of day behind its date.
bool has_time_of_day(std::string_view text);

/// An instant in the spelling of another timestamp.
std::string timestamp_text(std::int64_t instant, const TimestampStyle& style);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/timestamp.hpp>
#endif
