// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/profile.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/csv/units.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/letters.hpp>
#include <totograph/io/time/month_names.hpp>
#include <totograph/io/time/named_date.hpp>
#include <totograph/io/time/time_of_day.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::string plain_name(std::string_view name) {
    std::string plain;
    for (const char letter : name) {
        const auto byte = static_cast<unsigned char>(letter);
        if (std::isalnum(byte) != 0) {
            plain += static_cast<char>(std::tolower(byte));
        }
    }
    return plain;
}

TOTOGRAPH_INLINE bool is_clock_name(std::string_view name) {
    const std::string small = detail::in_small_letters(name);
    const std::string lower = plain_name(small);
    constexpr std::string_view names[] = {
        "time",      "times",     "timestamp",   "timestamps", "datetime",    "date",          "dates",
        "when",      "clock",     "epoch",       "epochtime",  "epochms",     "unix",          "unixtime",
        "timeunix",  "timems",    "ts",          "t",          "ds",          "utctime",       "timeutc",
        "createdat", "eventtime", "sampletime",  "period",     "timestampms", "unixtimestamp", "xvalue",
        "row",       "index",     "step",        "day",        "month",       "year",          "datum",
        "zeit",      "zeitpunkt", "zeitstempel", "fecha",      "fechahora",   "horodatage",    "datahora",
        "tijd",      "tijdstip",  "tidspunkt",   "tarih",      "zaman"};
    constexpr std::string_view others[] = {"日期",   "时间", "時間", "日時", "日付", "時刻",
                                           "年月日", "날짜", "시간", "일시", "дата", "время"};
    return std::find(std::begin(names), std::end(names), lower) != std::end(names) ||
           std::find(std::begin(others), std::end(others), small) != std::end(others);
}

TOTOGRAPH_INLINE bool is_time_of_day(std::string_view cell) {
    constexpr std::size_t longest = 30;
    return cell.size() <= longest && (cell.find(':') != std::string_view::npos || detail::has_hour_word(cell)) &&
           parse_timestamp("2000-01-01 " + std::string(cell)).has_value();
}

namespace detail {

TOTOGRAPH_INLINE int epoch_power(double value) {
    for (int power = 0; power < 4; ++power, value /= 1000) {
        if (value >= 1e9 && value < 4e9) {
            return power;
        }
    }
    return -1;
}

TOTOGRAPH_INLINE bool is_regular(const std::vector<double>& ascending, double tolerance) {
    std::vector<double> differences;
    for (std::size_t i = 1; i < ascending.size(); ++i) {
        differences.push_back(ascending[i] - ascending[i - 1]);
    }
    if (differences.empty()) {
        return false;
    }
    const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
    std::nth_element(differences.begin(), middle, differences.end());
    const double median = *middle;
    const auto agreeing = std::count_if(differences.begin(), differences.end(), [&](double difference) {
        return std::abs(difference - median) <= median * tolerance;
    });
    const auto size = static_cast<std::ptrdiff_t>(differences.size());
    return median > 0 && 2 * agreeing >= size && agreeing >= std::min<std::ptrdiff_t>(size, 3);
}

}  // namespace detail

TOTOGRAPH_INLINE void ColumnProfiler::add(ColumnProfile& profile, const CsvField& field, bool may_count) const {
    const std::string_view cell = without_blanks(field.text);
    const CellKind kind = kind_of_cell(cell, gaps_);
    if (kind == CellKind::blank) {
        ++profile.blanks;
        return;
    }
    if (kind == CellKind::gap_word) {
        profile.first_gap_word = profile.gap_words++ == 0 ? std::string(cell.substr(0, 40)) : profile.first_gap_word;
        profile.can_be_clock = false;
        return;
    }
    if (profile.filled() == 0) {
        profile.first_cell = cell;
    }
    profile.is_constant = profile.is_constant && profile.first_cell == cell;
    switch (kind) {
        case CellKind::number: add_number(profile, cell, field.line, may_count); break;
        case CellKind::time: add_time(profile, cell, field.line); break;
        case CellKind::truth:
            ++profile.numbers;
            profile.are_whole = false;
            profile.can_be_clock = false;
            break;
        default: add_text(profile, cell, field.line); break;
    }
}

TOTOGRAPH_INLINE bool ColumnProfiler::is_in_one_language(ColumnProfile& profile, std::string_view cell) {
    const auto is_of_name = [](char letter) {
        return (static_cast<unsigned char>(letter) & 0x80U) != 0 || (letter > '9' && letter != 'T' && letter != 'Z');
    };
    const std::string_view front = cell.substr(0, 12);  // of a named date
    if (std::none_of(front.begin(), front.end(), is_of_name)) {
        return true;
    }
    std::string_view rest = cell;
    const std::optional<NamedDate> date = take_named_date(rest);
    if (date && date->month_spellings != 0) {
        profile.month_languages &= detail::with_its_languages(date->month_spellings);
    }
    return profile.month_languages != 0;
}

TOTOGRAPH_INLINE void ColumnProfiler::add_time(ColumnProfile& profile, std::string_view cell, std::size_t line) {
    if (!is_in_one_language(profile, cell)) {
        if (profile.times > 0 && profile.texts == 0) {
            profile.first_text = profile.first_time;
            profile.first_text_line = profile.first_time_line;
        }
        profile.texts += profile.times;
        profile.times = 0;
        add_text(profile, cell, line);
        return;
    }
    if (profile.times == 0) {
        profile.first_time = cell.substr(0, 80);
        profile.first_time_line = line;
    }
    ++profile.times;
    profile.has_hours = profile.has_hours || has_time_of_day(cell);
    profile.has_repeats = profile.has_repeats || profile.last_time == cell;
    profile.last_time = cell;
}

TOTOGRAPH_INLINE void ColumnProfiler::add_text(ColumnProfile& profile, std::string_view cell, std::size_t line) {
    profile.times_of_day += is_time_of_day(cell) ? 1 : 0;
    profile.month_names += detail::month_of_name(cell) > 0 ? 1 : 0;
    profile.quarters += is_quarter(cell) ? 1 : 0;
    if (profile.texts++ == 0) {
        profile.first_text = cell.substr(0, 80);
        profile.first_text_line = line;
    }
    profile.can_be_clock = false;
}

TOTOGRAPH_INLINE void ColumnProfiler::add_number(ColumnProfile& profile, std::string_view cell, std::size_t line,
                                                 bool may_count) {
    ++profile.numbers;
    const Decimal plain = parse_decimal(cell);
    if (plain.kind == DecimalKind::number) {
        profile.marks.add(evidence_of(cell.starts_with('+') ? cell.substr(1) : cell));
        add_date_in_digits(profile, cell);
        add_unit(profile, "", plain.value == 0, line);
        add_count(profile, plain.value, may_count);
        profile.smallest = profile.numbers == 1 ? plain.value : std::min(profile.smallest, plain.value);
        profile.largest = profile.numbers == 1 ? plain.value : std::max(profile.largest, plain.value);
        profile.are_whole = profile.are_whole && std::floor(plain.value) == plain.value;
        return;
    }
    profile.are_whole = false;
    profile.can_be_clock = false;
    const std::optional<NumberParts> parts = split_number(cell);
    profile.marks.add(evidence_of(parts->digits));
    add_unit(profile, parts->unit, parts->digits.find_first_of("123456789") == std::string::npos, line);
}

TOTOGRAPH_INLINE void ColumnProfiler::add_date_in_digits(ColumnProfile& profile, std::string_view cell) {
    const bool are_dates = profile.dates_in_digits + 1 == profile.numbers;
    if (!are_dates || cell.size() != profile.first_cell.size() || !parse_date_in_digits(cell)) {
        return;
    }
    ++profile.dates_in_digits;
    profile.has_repeats = profile.has_repeats || profile.last_time == cell;
    profile.last_time = cell;
}

TOTOGRAPH_INLINE void ColumnProfiler::add_unit(ColumnProfile& profile, std::string_view unit, bool is_zero,
                                               std::size_t line) {
    // Nothing is as much in every unit.
    if (is_zero && (unit.empty() || profile.has_unit)) {
        return;
    }
    if (!profile.has_unit) {
        profile.unit = unit;
        profile.has_unit = true;
    } else if (!profile.has_other_unit && unit != profile.unit && !unit_factor(unit, profile.unit)) {
        profile.other_unit = unit;
        profile.other_unit_line = line;
        profile.has_other_unit = true;
    }
}

TOTOGRAPH_INLINE void ColumnProfiler::add_count(ColumnProfile& profile, double value, bool may_count) {
    profile.can_be_clock = profile.can_be_clock && (may_count || detail::epoch_power(value) >= 0);
    if (profile.can_be_clock) {
        profile.counts.push_back(value);
    } else {
        profile.counts = {};
    }
}

TOTOGRAPH_INLINE CountingColumn counting(const ColumnProfile& profile) {
    if (!profile.can_be_clock || profile.counts.size() < 2) {
        return {};
    }
    CountingColumn column;
    std::vector<double> values = profile.counts;
    const int power = detail::epoch_power(values.front());
    column.is_epoch = power >= 0 && std::all_of(values.begin(), values.end(),
                                                [&](double value) { return detail::epoch_power(value) == power; });
    if (values.back() < values.front()) {
        std::reverse(values.begin(), values.end());
    }
    column.is_rising = std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    column.is_regular = detail::is_regular(values, 0.1);
    column.is_even = detail::is_regular(values, 0.001);
    return column;
}

}  // namespace totograph::io
