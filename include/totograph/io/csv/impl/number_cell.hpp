// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/number_cell.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>
#include <totograph/io/csv/decimal.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE void MarkEvidence::add(const MarkEvidence& other) {
    is_point = is_point || other.is_point;
    is_comma = is_comma || other.is_comma;
    has_unclear_point = has_unclear_point || other.has_unclear_point;
    has_unclear_comma = has_unclear_comma || other.has_unclear_comma;
    has_short_whole = has_short_whole || other.has_short_whole;
    has_long_whole = has_long_whole || other.has_long_whole;
}

namespace detail {

TOTOGRAPH_INLINE std::size_t thousands_blank(std::string_view text) {
    constexpr std::string_view marks[] = {" ", "'", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99"};
    for (const std::string_view mark : marks) {
        if (text.starts_with(mark)) {
            return mark.size();
        }
    }
    return 0;
}

TOTOGRAPH_INLINE std::string_view take_currency(std::string_view& text) {
    constexpr std::string_view signs[] = {"$", "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5"};  // dollar, euro, pound, yen
    for (const std::string_view sign : signs) {
        if (text.starts_with(sign)) {
            text.remove_prefix(sign.size());
            return sign;
        }
    }
    return {};
}

TOTOGRAPH_INLINE bool is_unit(std::string_view text) {
    constexpr std::size_t longest = 16;
    constexpr std::string_view never = "0123456789 \t,;:.\"'+-_=#()[]{}<>\\!?@|&~";
    return !text.empty() && text.size() <= longest && text.front() != '/' && text.front() != '*' &&
           text.find_first_of(never) == std::string_view::npos;
}

TOTOGRAPH_INLINE bool take_mantissa(std::string_view& text, std::string& digits) {
    bool any_digit = false;
    bool any_mark = false;  // , or .
    char last = '\0';
    while (!text.empty()) {
        const char next = text.front();
        if (is_digit(next) || next == '.' || next == ',') {
            if (!is_digit(next) && !is_digit(last) && any_digit) {
                return false;
            }
            any_digit = any_digit || is_digit(next);
            any_mark = any_mark || !is_digit(next);
            digits += next;
            last = next;
            text.remove_prefix(1);
            continue;
        }
        // A blank belongs to the number where exactly three digits follow, as between thousands.
        const std::size_t blank = thousands_blank(text);
        const std::string_view group = text.substr(std::min(blank, text.size()));
        const bool is_group = group.size() >= 3 && std::all_of(group.begin(), group.begin() + 3, is_digit) &&
                              (group.size() == 3 || !is_digit(group[3]));
        if (blank == 0 || !is_group || !is_digit(last) || any_mark) {
            break;
        }
        text.remove_prefix(blank);
    }
    return any_digit && last != ',';
}

TOTOGRAPH_INLINE void take_exponent(std::string_view& text, std::string& digits) {
    if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) {
        return;
    }
    std::size_t end = text[1] == '+' || text[1] == '-' ? 2 : 1;
    const std::size_t first = end;
    while (end < text.size() && is_digit(text[end])) {
        ++end;
    }
    if (end > first) {
        digits += text.substr(0, end);
        text.remove_prefix(end);
    }
}

TOTOGRAPH_INLINE std::optional<NumberParts> split_plain(std::string_view cell) {
    NumberParts parts;
    parts.unit = take_currency(cell);
    if (cell.starts_with('-') || cell.starts_with('+')) {
        parts.digits = cell.starts_with('-') ? "-" : "";
        cell.remove_prefix(1);
    } else if (cell.starts_with("\xe2\x88\x92")) {  // the minus sign that is no hyphen
        parts.digits = "-";
        cell.remove_prefix(3);
    }
    if (parts.unit.empty()) {
        parts.unit = take_currency(cell);
    }
    if (!take_mantissa(cell, parts.digits)) {
        return std::nullopt;
    }
    take_exponent(cell, parts.digits);
    if (const std::size_t blank = thousands_blank(cell); blank > 0 && cell[0] != '\'') {
        cell.remove_prefix(blank);
    }
    if (cell.empty()) {
        return parts;
    }
    if (!parts.unit.empty() || !is_unit(cell)) {
        return std::nullopt;
    }
    parts.unit = cell;
    return parts;
}

}  // namespace detail

TOTOGRAPH_INLINE std::optional<NumberParts> split_number(std::string_view cell) {
    if (!cell.ends_with(')')) {
        return detail::split_plain(cell);
    }
    const std::string_view currency = detail::take_currency(cell);
    if (cell.size() < 3 || cell.front() != '(' || cell[1] == '+') {
        return std::nullopt;
    }
    std::optional<NumberParts> parts = detail::split_plain(cell.substr(1, cell.size() - 2));
    if (!parts || parts->digits.starts_with('-') || (!currency.empty() && !parts->unit.empty())) {
        return std::nullopt;
    }
    parts->digits.insert(0, 1, '-');
    parts->unit = currency.empty() ? parts->unit : currency;
    return parts;
}

TOTOGRAPH_INLINE MarkEvidence evidence_of(std::string_view digits) {
    const std::size_t comma = digits.rfind(',');
    const std::size_t point = digits.rfind('.');
    if (comma == std::string_view::npos && point == std::string_view::npos) {
        const bool is_whole = digits.find_first_of("eE") == std::string_view::npos;
        const bool is_short = digits.size() <= (digits.starts_with('-') ? 4U : 3U);
        return {.has_short_whole = is_whole && is_short, .has_long_whole = is_whole && !is_short};
    }
    if (comma != std::string_view::npos && point != std::string_view::npos) {
        return {.is_point = point > comma, .is_comma = comma > point};
    }
    const char mark = comma != std::string_view::npos ? ',' : '.';
    const std::size_t at = mark == ',' ? comma : point;
    const auto decides = [&](bool is_point) { return MarkEvidence{.is_point = is_point, .is_comma = !is_point}; };
    if (digits.find(mark) != at) {
        return decides(mark == ',');  // several: they stand between thousands, so the other one is the decimal mark
    }
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    const bool could_be_thousands = digits.size() - at == 4 && at - first >= 1 && at - first <= 3 &&
                                    digits[first] != '0' && digits.find_first_of("eE") == std::string_view::npos;
    if (could_be_thousands) {
        return {.has_unclear_point = mark == '.', .has_unclear_comma = mark == ','};
    }
    return decides(mark == '.');
}

TOTOGRAPH_INLINE Decimal parse_digits(std::string_view digits, DecimalMark mark) {
    const char decimal = mark == DecimalMark::comma ? ',' : '.';
    const char thousands = mark == DecimalMark::comma ? '.' : ',';
    const std::size_t end = std::min(digits.find_first_of("eE"), digits.size());
    const std::size_t point = std::min(digits.find(decimal), end);
    if (digits.find(thousands) == std::string_view::npos && decimal == '.') {
        return parse_decimal(digits);
    }
    std::string plain;
    std::size_t group = 0;
    bool has_groups = false;
    for (std::size_t i = 0; i < point; ++i) {
        if (digits[i] == thousands) {
            if (group == 0 || group > 3 || (has_groups && group != 3)) {
                return {};
            }
            has_groups = true;
            group = 0;
            continue;
        }
        group += detail::is_digit(digits[i]) ? 1 : 0;
        plain += digits[i];
    }
    if (has_groups && group != 3) {
        return {};
    }
    if (point < end) {
        plain += '.';
        plain += digits.substr(point + 1, end - point - 1);
    }
    plain += digits.substr(end);
    return parse_decimal(plain);  // which refuses marks that are left
}

}  // namespace totograph::io
