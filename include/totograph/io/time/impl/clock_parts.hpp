// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/clock_parts.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/month_names.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE bool is_part(std::string_view name, const ColumnProfile& profile, const PartKind& kind) {
    const std::string plain = plain_name(name);
    if (std::find(kind.names.begin(), kind.names.end(), plain) == kind.names.end()) {
        return false;
    }
    const bool is_named = (kind.role == ClockPart::Role::month && profile.month_names == profile.filled()) ||
                          (kind.role == ClockPart::Role::quarter && profile.quarters == profile.filled());
    return !profile.is_empty() && (is_named || profile.is_within(kind.least, kind.most));
}

TOTOGRAPH_INLINE std::optional<int> part_number(std::string_view cell, ClockPart::Role role) {
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

TOTOGRAPH_INLINE std::string date_and_time(std::string_view date, std::string_view time) {
    if (date.empty() || time.empty()) {
        return "";
    }
    if (const std::optional<Timestamp> compact = parse_compact_date(date)) {
        return timestamp_text(compact->instant, {}) + " " + std::string(time);
    }
    return std::string(date) + " " + std::string(time);
}

TOTOGRAPH_INLINE std::optional<std::size_t> find_part(const std::vector<std::string>& names,
                                                      const std::vector<ColumnProfile>& profiles, const PartKind& kind,
                                                      const std::function<bool(std::size_t)>& free) {
    for (std::size_t position = 0; position < names.size(); ++position) {
        if (free(position) && is_part(names[position], profiles[position], kind)) {
            return position;
        }
    }
    return std::nullopt;
}

TOTOGRAPH_INLINE std::string hours_text(const ClockParts& parts, const std::vector<CsvField>& row) {
    std::string text;
    for (std::size_t part = 1; part < parts.size(); ++part) {
        const std::optional<int> number = part_number(without_blanks(row[parts[part].position].text), parts[part].role);
        if (!number) {
            return "";
        }
        text += (text.empty() ? "" : ":") + two_digits(*number);
    }
    return text + (parts.size() == 2 ? ":00" : "");
}

}  // namespace detail

TOTOGRAPH_INLINE ClockParts find_calendar_columns(const std::vector<std::string>& names,
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
        if (const std::optional<std::size_t> position = detail::find_part(names, profiles, kind, free)) {
            parts.push_back({*position, kind.role});
        }
        if (parts.empty()) {
            return {};  // no years
        }
    }
    return parts.size() > 1 ? parts : ClockParts();
}

TOTOGRAPH_INLINE std::optional<std::size_t> find_time_of_day(const std::vector<std::string>& names,
                                                             const std::vector<ColumnProfile>& profiles,
                                                             std::size_t dates,
                                                             const std::function<bool(std::size_t)>& free) {
    for (std::size_t position = 0; position < names.size(); ++position) {
        const bool is_likely = profiles[dates].has_repeats || is_clock_name(names[position]);
        if (position != dates && free(position) && profiles[position].is_time_of_day() && is_likely) {
            return position;
        }
    }
    return std::nullopt;
}

TOTOGRAPH_INLINE ClockParts find_hours(const std::vector<std::string>& names,
                                       const std::vector<ColumnProfile>& profiles, std::size_t dates,
                                       const std::function<bool(std::size_t)>& free) {
    using Role = ClockPart::Role;
    ClockParts parts = {{dates, Role::date}};
    for (const detail::PartKind& kind : detail::part_kinds) {
        const bool is_next = kind.role == (parts.size() == 1 ? Role::hour : Role::minute);
        const std::optional<std::size_t> position =
            is_next ? detail::find_part(names, profiles, kind, free) : std::nullopt;
        if (position) {
            parts.push_back({*position, kind.role});
        }
    }
    return parts.size() > 1 && profiles[dates].has_repeats ? parts : ClockParts();
}

TOTOGRAPH_INLINE std::string clock_text(const ClockParts& parts, const std::vector<CsvField>& row) {
    using Role = ClockPart::Role;
    const auto cell = [&](std::size_t part) { return without_blanks(row[parts[part].position].text); };
    if (parts[0].role == Role::stamp) {
        return row[parts[0].position].text;
    }
    if (parts[0].role == Role::date) {
        return detail::date_and_time(
            cell(0), parts[1].role == Role::hour ? detail::hours_text(parts, row) : std::string(cell(1)));
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
