// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/clock.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::int64_t time_between(std::int64_t from, std::int64_t to) {
    std::int64_t distance = 0;
    if (!__builtin_sub_overflow(to, from, &distance)) {
        return distance;
    }
    return to > from ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

TOTOGRAPH_INLINE std::optional<std::int64_t> parse_whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

TOTOGRAPH_INLINE int decimals_of(std::string_view text) {
    const std::size_t point = text.find('.');
    const bool is_plain = text.find_first_of("eE") == std::string_view::npos;
    return point == std::string_view::npos || !is_plain ? 0 : static_cast<int>(text.size() - point - 1);
}

TOTOGRAPH_INLINE std::optional<std::int64_t> parse_count(std::string_view text, int decimals) {
    constexpr std::int64_t bound = 4'000'000'000'000'000'000;
    const int own = decimals_of(text);
    if (own > decimals || parse_decimal(text).kind != DecimalKind::number) {
        return std::nullopt;
    }
    std::optional<std::int64_t> count;
    if (text.find_first_of("eE") != std::string_view::npos) {
        const double value = parse_decimal(text).value * std::pow(10.0, decimals);
        if (std::abs(value) < 9e15 && std::floor(value) == value) {
            count = static_cast<std::int64_t>(value);
        }
    } else {
        std::string digits;
        for (const char letter : text) {
            digits.append(letter == '.' || letter == '+' ? 0 : 1, letter);
        }
        digits.append(static_cast<std::size_t>(decimals - own), '0');
        count = parse_whole_number(digits);
    }
    return count && *count <= bound && *count >= -bound ? count : std::nullopt;
}

TOTOGRAPH_INLINE std::optional<std::int64_t> rounded_count(std::string_view text, int decimals) {
    const int further = decimals_of(text) - decimals;
    if (further <= 0 || parse_decimal(text).kind != DecimalKind::number) {
        return parse_count(text, decimals);
    }
    const std::size_t end = text.size() - static_cast<std::size_t>(further);
    const std::int64_t up = text[end] >= '5' ? (text.starts_with('-') ? -1 : 1) : 0;
    const std::optional<std::int64_t> count = parse_count(text.substr(0, end), decimals);
    return count ? std::optional(*count + up) : std::nullopt;
}

TOTOGRAPH_INLINE std::int64_t epoch_unit_of(std::int64_t count, int decimals) {
    std::int64_t scale = 1;
    for (int i = 0; i < decimals; ++i) {
        scale *= 10;
    }
    const std::int64_t whole = count / scale;
    for (std::int64_t unit = 1; unit <= nanoseconds_per_second; unit *= 1000) {
        const std::int64_t per_second = nanoseconds_per_second / unit;
        if (whole / per_second >= 1'000'000'000 && whole / per_second < 4'000'000'000) {
            return unit / scale;
        }
    }
    return 0;
}

TOTOGRAPH_INLINE std::string Clock::text(std::int64_t time) const {
    if (kind == Kind::instants) {
        return timestamp_text(time, style);
    }
    std::string digits = std::to_string(time);
    if (decimals == 0) {
        return digits;
    }
    const std::size_t sign = time < 0 ? 1 : 0;
    const auto places = static_cast<std::size_t>(decimals);
    if (digits.size() < sign + places + 1) {
        digits.insert(sign, sign + places + 1 - digits.size(), '0');
    }
    return digits.insert(digits.size() - places, ".");
}

TOTOGRAPH_INLINE std::optional<Timestamp> parse_compact_date(std::string_view text) {
    if (text.size() != 8 || (text[0] != '1' && text[0] != '2')) {
        return std::nullopt;
    }
    const std::string spelled =
        std::string(text.substr(0, 4)) + "-" + std::string(text.substr(4, 2)) + "-" + std::string(text.substr(6));
    std::optional<Timestamp> stamp = parse_timestamp(spelled);
    if (stamp) {
        stamp->style.date_separator = '\0';
    }
    return stamp;
}

TOTOGRAPH_INLINE std::optional<Timestamp> parse_date_in_digits(std::string_view text) {
    if (text.size() == 8) {
        return parse_compact_date(text);
    }
    if (text.size() < 6 || text.size() > 14 || text.size() % 2 != 0) {
        return std::nullopt;
    }
    detail::FieldReader reader(text);
    std::int64_t year = 0, month = 0, day = 1, hour = 0, minute = 0, second = 0;
    if (!reader.digits(4, year) || year < 1900 || year > 2100 || !reader.digits(2, month)) {
        return std::nullopt;
    }
    for (std::int64_t* part : {&day, &hour, &minute, &second}) {
        if (!reader.done() && !reader.digits(2, *part)) {
            return std::nullopt;
        }
    }
    const std::optional<std::chrono::sys_days> date = detail::day_of(year, month, day);
    const std::int64_t second_of_day = hour * 3600 + minute * 60 + second;
    if (!date || minute > 59 || second > 59 || second_of_day > seconds_per_day) {
        return std::nullopt;
    }
    Timestamp stamp;
    stamp.instant = (date->time_since_epoch().count() * seconds_per_day + second_of_day) * nanoseconds_per_second;
    stamp.style.date_separator = '\0';
    stamp.style.separator = "";
    stamp.style.has_colons = false;
    stamp.style.has_day = text.size() >= 8;
    stamp.style.has_time = text.size() >= 10;
    stamp.style.has_minutes = text.size() >= 12;
    stamp.style.has_seconds = text.size() >= 14;
    return stamp;
}

TOTOGRAPH_INLINE DateDecision decide_dates(const std::vector<std::string>& stamps) {
    bool any = false;
    DateReading all{true, true};
    for (const std::string& stamp : stamps) {
        if (stamp.empty() || parse_timestamp(stamp)) {
            continue;
        }
        const DateReading one = date_reading(stamp);
        all.can_be_month_first = all.can_be_month_first && one.can_be_month_first;
        all.can_be_day_first = all.can_be_day_first && one.can_be_day_first;
        any = true;
    }
    if (!any) {
        return {DateOrder::year_first, false};
    }
    if (all.can_be_month_first == all.can_be_day_first) {
        return {std::nullopt, all.can_be_month_first};
    }
    return {all.can_be_day_first ? DateOrder::day_first : DateOrder::month_first, false};
}

namespace detail {

TOTOGRAPH_INLINE bool read_instants(const std::vector<std::string>& stamps, DateOrder order, Clock& clock) {
    clock.times.clear();
    for (const std::string& text : stamps) {
        if (text.empty()) {
            clock.times.push_back(Clock::unknown);
            continue;
        }
        std::optional<Timestamp> stamp = parse_timestamp(text, order);
        if (!stamp) {
            return false;
        }
        clock.times.push_back(stamp->instant);
        join_style(stamp->style, clock.style);
        clock.style = std::move(stamp->style);
    }
    clock.kind = Clock::Kind::instants;
    return true;
}

TOTOGRAPH_INLINE bool read_dates_in_digits(const std::vector<std::string>& stamps, Clock& clock) {
    clock.times.clear();
    std::size_t length = 0;
    for (const std::string& text : stamps) {
        if (text.empty()) {
            clock.times.push_back(Clock::unknown);
            continue;
        }
        std::optional<Timestamp> stamp = parse_date_in_digits(text);
        if (!stamp || (length > 0 && text.size() != length)) {
            return false;
        }
        length = text.size();
        clock.times.push_back(stamp->instant);
        clock.style = std::move(stamp->style);
    }
    clock.kind = Clock::Kind::instants;
    return true;
}

TOTOGRAPH_INLINE bool is_same_decimal(std::string_view a, std::string_view b) {
    const auto trim = [](std::string_view number) {
        const bool is_negative = number.starts_with('-');
        number.remove_prefix(is_negative || number.starts_with('+') ? 1 : 0);
        number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
        if (number.find('.') != std::string_view::npos) {
            number = number.substr(0, number.find_last_not_of('0') + 1);
            number.remove_suffix(number.ends_with('.') ? 1 : 0);
        }
        return std::pair(is_negative && !number.empty(), number);
    };
    return trim(a) == trim(b);
}

TOTOGRAPH_INLINE bool read_numbers(const std::vector<std::string>& stamps, Clock& clock) {
    clock.times.clear();
    for (const std::string& text : stamps) {
        clock.decimals = std::max(clock.decimals, std::min(decimals_of(text), most_decimals));
    }
    std::int64_t last = 0;
    const std::string* before = nullptr;
    for (const std::string& text : stamps) {
        const std::optional<std::int64_t> count =
            text.empty() ? std::optional(Clock::unknown) : rounded_count(text, clock.decimals);
        const bool is_same = before != nullptr && !text.empty() && count == last;
        if (!count || (is_same && std::max(decimals_of(text), decimals_of(*before)) > clock.decimals &&
                       !is_same_decimal(text, *before))) {
            return false;  // no number, or one that rounding would make the one before
        }
        clock.times.push_back(*count);
        last = text.empty() ? last : *count;
        before = text.empty() ? before : &text;
    }
    clock.kind = Clock::Kind::numbers;
    clock.epoch_unit = epoch_unit_of(last, clock.decimals);
    return true;
}

}  // namespace detail

TOTOGRAPH_INLINE Clock read_clock(const std::vector<std::string>& stamps, DateOrder order) {
    Clock clock;
    bool any = false;
    for (const std::string& text : stamps) {
        any = any || !text.empty();
    }
    const bool is_read = any && (detail::read_instants(stamps, order, clock) ||
                                 detail::read_dates_in_digits(stamps, clock) || detail::read_numbers(stamps, clock));
    if (!is_read) {
        clock = Clock();
        clock.kind = stamps.empty() ? Clock::Kind::none : Clock::Kind::labels;
    }
    return clock;
}

}  // namespace totograph::io
