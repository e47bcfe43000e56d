// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/week_date.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>
#include <totograph/io/time/field_reader.hpp>
#include <totograph/io/time/named_date.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::optional<std::chrono::sys_days> monday_of_week(std::int64_t year, std::int64_t week) {
    using namespace std::chrono;
    const std::chrono::year of(static_cast<int>(year));
    const auto first = sys_days(of / January / Thursday[1]) - days(3);
    const sys_days monday = first + days(7 * static_cast<int>(week - 1));
    const bool is_there = week >= 1 && year_month_day(monday + days(3)).year() == of;
    return is_there ? std::optional(monday) : std::nullopt;
}

TOTOGRAPH_INLINE std::optional<NamedDate> take_week_date(std::string_view& text) {
    detail::FieldReader reader(text);
    std::int64_t year = 0, week = 0, day = 1;
    if (!reader.digits(4, year)) {
        return std::nullopt;
    }
    const bool has_marks = reader.symbol('-');
    if (!reader.symbol('W') || !reader.digits(2, week)) {
        return std::nullopt;
    }
    // "1800W10" is more likely a product, as dates in digits alone are of later years.
    if (!has_marks && (year < 1900 || year > 2100)) {
        return std::nullopt;
    }
    const bool has_day = has_marks ? reader.symbol('-') : !reader.done();
    const std::optional<std::chrono::sys_days> monday = monday_of_week(year, week);
    if (!monday || (has_day ? !reader.digits(1, day) || day < 1 || day > 7 : !reader.done())) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date(*monday + std::chrono::days(static_cast<int>(day - 1)));
    text = reader.rest();
    return NamedDate{.year = static_cast<int>(date.year()),
                     .month = static_cast<unsigned>(date.month()),
                     .day = static_cast<unsigned>(date.day()),
                     .has_day = true,
                     .pattern = std::string(has_marks ? "G-WV" : "GWV") + (!has_day    ? ""
                                                                           : has_marks ? "-u"
                                                                                       : "u")};
}

}  // namespace totograph::io
