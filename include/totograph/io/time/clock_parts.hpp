// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {

/// What a column has of the clock: all of it, or a part.
struct ClockPart {
    enum class Role { stamp, date, time_of_day, year, quarter, month, day, hour, minute };

    std::size_t position = 0;
    Role role = Role::stamp;
};

/// The columns that are the clock together.
using ClockParts = std::vector<ClockPart>;

namespace detail {

/// What columns of a role are called, and the numbers that they hold.
struct PartKind {
    ClockPart::Role role{};
    std::array<std::string_view, 8> names{};
    double least = 0;
    double most = 0;
};

inline constexpr std::array<PartKind, 6> part_kinds = {{
    {ClockPart::Role::year, {"year", "years", "yr", "yyyy", "jahr"}, 1700, 2250},
    {ClockPart::Role::quarter, {"quarter", "quarters", "qtr", "q", "quartal"}, 1, 4},
    {ClockPart::Role::month, {"month", "months", "mon", "mm", "monat"}, 1, 12},
    {ClockPart::Role::day, {"day", "days", "dayofmonth", "dd", "tag"}, 1, 31},
    {ClockPart::Role::hour, {"hour", "hours", "hr", "hh", "he", "hourofday", "hourending", "stunde"}, 0, 24},
    {ClockPart::Role::minute, {"minute", "minutes", "mins", "minuten", "minuteofhour"}, 0, 59},
}};

bool is_part(std::string_view name, const ColumnProfile& profile, const PartKind& kind);

/// The number in a cell of a part; nothing for another one, as below a table.
std::optional<int> part_number(std::string_view cell, ClockPart::Role role);

std::string date_and_time(std::string_view date, std::string_view time);

/// The first column, of those that are `free`, that holds a part of the clock.
std::optional<std::size_t> find_part(const std::vector<std::string>& names, const std::vector<ColumnProfile>& profiles,
                                     const PartKind& kind, const std::function<bool(std::size_t)>& free);

/// "07:30" of the cells behind a date; empty where one holds no number.
std::string hours_text(const ClockParts& parts, const std::vector<CsvField>& row);

}  // namespace detail

/// The columns, of those that are `free`, that hold years, quarters or months, days, hours and minutes: at least years
/// and one of the next two; empty without.
ClockParts find_calendar_columns(const std::vector<std::string>& names, const std::vector<ColumnProfile>& profiles,
                                 const std::function<bool(std::size_t)>& free);

/// The column, of those that are `free`, of the times of day that belong to a column of dates: the dates are repeated,
/// or its name says so. (Sunrise is no clock.)
std::optional<std::size_t> find_time_of_day(const std::vector<std::string>& names,
                                            const std::vector<ColumnProfile>& profiles, std::size_t dates,
                                            const std::function<bool(std::size_t)>& free);

/// A column of dates and those, of the columns that are `free`, of the hours and minutes that belong to it; empty
/// without hours, and where the dates are not repeated: a day has several hours.
ClockParts find_hours(const std::vector<std::string>& names, const std::vector<ColumnProfile>& profiles,
                      std::size_t dates, const std::function<bool(std::size_t)>& free);

/// The timestamp of a row, from the parts that its cells hold; empty where one is missing.
std::string clock_text(const ClockParts& parts, const std::vector<CsvField>& row);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/clock_parts.hpp>
#endif
