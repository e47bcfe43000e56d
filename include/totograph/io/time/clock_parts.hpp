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
#include <totograph/io/time/named_date.hpp>
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
    std::array<std::string_view, 5> names{};
    double least = 0;
    double most = 0;
};

inline constexpr std::array<PartKind, 6> part_kinds = {{
    {ClockPart::Role::year, {"year", "years", "yr", "yyyy", "jahr"}, 1700, 2250},
    {ClockPart::Role::quarter, {"quarter", "quarters", "qtr", "q", "quartal"}, 1, 4},
    {ClockPart::Role::month, {"month", "months", "mon", "mm", "monat"}, 1, 12},
    {ClockPart::Role::day, {"day", "days", "dayofmonth", "dd", "tag"}, 1, 31},
    {ClockPart::Role::hour, {"hour", "hours", "hr", "hh", "stunde"}, 0, 23},
    {ClockPart::Role::minute, {"minute", "minutes", "mins", "minuten", "minuteofhour"}, 0, 59},
}};

inline bool is_part(std::string_view name, const ColumnProfile& profile, const PartKind& kind) {
    const std::string plain = plain_name(name);
    if (std::find(kind.names.begin(), kind.names.end(), plain) == kind.names.end()) {
        return false;
    }
    const bool is_named = (kind.role == ClockPart::Role::month && profile.month_names == profile.filled()) ||
                          (kind.role == ClockPart::Role::quarter && profile.quarters == profile.filled());
    return !profile.is_empty() && (is_named || profile.is_within(kind.least, kind.most));
}

/// The number in a cell of a part; nothing for another one, as below a table.
inline std::optional<int> part_number(std::string_view cell, ClockPart::Role role) {
    if (role == ClockPart::Role::month) {
        if (const std::int64_t month = month_of_name(cell); month > 0) {
            return static_cast<int>(month);
        }
    }
    if (role == ClockPart::Role::quarter && is_quarter(cell)) {
        return cell[1] - '0';
    }
    const Decimal number = parse_decimal(cell);
    const bool is_small = number.kind == DecimalKind::number && number.value >= 0 && number.value < 10'000;
    return is_small ? std::optional(static_cast<int>(number.value)) : std::nullopt;
}

inline std::string date_and_time(std::string_view date, std::string_view time) {
    if (date.empty() || time.empty()) {
        return "";
    }
    if (const std::optional<Timestamp> compact = parse_compact_date(date)) {
        return timestamp_text(compact->instant, {}) + " " + std::string(time);
    }
    return std::string(date) + " " + std::string(time);
}

}  // namespace detail

/// The columns, of those that are `free`, that hold years, quarters or months, days, hours and minutes: at least years
/// and one of the next two; empty without.
inline ClockParts find_calendar_columns(const std::vector<std::string>& names,
                                        const std::vector<ColumnProfile>& profiles,
                                        const std::function<bool(std::size_t)>& free) {
    using Role = ClockPart::Role;
    ClockParts parts;
    for (const detail::PartKind& kind : detail::part_kinds) {
        const bool is_finer = kind.role >= Role::day;  // it needs the next coarser one
        const bool has_coarser =
            !parts.empty() && static_cast<int>(parts.back().role) + 1 == static_cast<int>(kind.role);
        const bool has_quarter = !parts.empty() && parts.back().role == Role::quarter;
        if ((is_finer && !has_coarser) || (kind.role == Role::month && has_quarter)) {
            continue;
        }
        for (std::size_t position = 0; position < names.size(); ++position) {
            if (free(position) && detail::is_part(names[position], profiles[position], kind)) {
                parts.push_back({position, kind.role});
                break;
            }
        }
        if (parts.empty()) {
            return {};  // no years
        }
    }
    return parts.size() > 1 ? parts : ClockParts();
}

/// The column, of those that are `free`, of the times of day that belong to a column of dates: the dates are repeated,
/// or its name says so. (Sunrise is no clock.)
inline std::optional<std::size_t> find_time_of_day(const std::vector<std::string>& names,
                                                   const std::vector<ColumnProfile>& profiles, std::size_t dates,
                                                   const std::function<bool(std::size_t)>& free) {
    for (std::size_t position = 0; position < names.size(); ++position) {
        const bool is_likely = profiles[dates].has_repeats || is_clock_name(names[position]);
        if (position != dates && free(position) && profiles[position].is_time_of_day() && is_likely) {
            return position;
        }
    }
    return std::nullopt;
}

/// The timestamp of a row, from the parts that its cells hold; empty where one is missing.
inline std::string clock_text(const ClockParts& parts, const std::vector<CsvField>& row) {
    using Role = ClockPart::Role;
    const auto cell = [&](std::size_t part) { return without_blanks(row[parts[part].position].text); };
    if (parts[0].role == Role::stamp) {
        return row[parts[0].position].text;
    }
    if (parts[0].role == Role::date) {
        return detail::date_and_time(cell(0), cell(1));
    }
    std::string text;
    bool has_hour = false;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const Role role = parts[part].role;
        const std::optional<int> number = detail::part_number(cell(part), role);
        if (!number) {
            return "";
        }
        has_hour = has_hour || role == Role::hour;
        text += role == Role::year      ? ""
                : role == Role::quarter ? "-Q"
                : role == Role::hour    ? " "
                : role == Role::minute  ? ":"
                                        : "-";
        text += role == Role::year || role == Role::quarter ? std::to_string(*number) : two_digits(*number);
    }
    return text + (has_hour && parts.back().role == Role::hour ? ":00" : "");
}

}  // namespace totograph::io
