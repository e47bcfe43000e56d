// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

}  // namespace totograph::io
