// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/digits.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {
namespace detail {

/// The digit of ASCII that a character of another script is; '\0' for another character.
TOTOGRAPH_INLINE char ascii_digit(std::uint32_t point) {
    // The zeros of Arabic, Persian, Devanagari, Bengali, Thai and full-width digits.
    constexpr std::array<std::uint32_t, 6> zeros = {0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xFF10};
    const auto zero = std::find_if(zeros.begin(), zeros.end(),
                                   [&](std::uint32_t first) { return point >= first && point < first + 10; });
    return zero == zeros.end() ? '\0' : static_cast<char>('0' + (point - *zero));
}

/// The mark of ASCII that stands for one beside such digits; '\0' for another character.
TOTOGRAPH_INLINE char ascii_mark(std::uint32_t point) {
    if (point >= 0xFF01 && point <= 0xFF0F) {  // full-width signs, points and slashes
        return static_cast<char>(point - 0xFF00 + 0x20);
    }
    switch (point) {
        case 0x66A: return '%';   // Arabic sign of percent
        case 0x66B: return '.';   // Arabic decimal mark
        case 0x66C:               // Arabic mark of thousands
        case 0x60C: return ',';   // Arabic comma
        case 0xFF1A: return ':';  // full-width colon
        case 0x3000: return ' ';  // ideographic blank
        default: return '\0';
    }
}

TOTOGRAPH_INLINE bool is_mark_of_direction(std::uint32_t point) {
    return point == 0x61C || point == 0x200E || point == 0x200F || (point >= 0x202A && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069);
}

constexpr bool is_full_width(std::uint32_t point) {
    return point >= 0xFF01 && point <= 0xFF5E;
}

/// Whether a field is a number, a time or a time of day.
TOTOGRAPH_INLINE bool is_number_or_time(std::string_view field, bool may_have_unit) {
    static const GapWords gaps;
    const std::string_view cell = without_blanks(field);
    const CellKind kind = kind_of_cell(cell, gaps);
    if (kind == CellKind::number && !may_have_unit) {
        const std::optional<NumberParts> parts = split_number(cell);
        return !parts || parts->unit.empty() || parts->unit == "%";
    }
    return kind == CellKind::number || kind == CellKind::time || is_time_of_day(cell);
}

}  // namespace detail

TOTOGRAPH_INLINE std::string with_ascii_digits(std::string_view field) {
    std::string plain;
    bool has_begun = false;  // with a digit
    bool has_changed = false;
    bool has_full_width = false;
    for (std::string_view rest = field; !rest.empty();) {
        std::uint32_t point = 0;
        const std::size_t length = decode_utf8(rest, point);
        if (length == 0) {
            return std::string(field);
        }
        const char digit = length > 1 ? detail::ascii_digit(point) : '\0';
        const char mark = length > 1 ? detail::ascii_mark(point) : '\0';
        const bool is_digit = digit != '\0' || (point >= '0' && point <= '9');
        const bool is_sign = point == '-' || point == '+' || point == 0x2212 || point == 0xFF0D || point == 0xFF0B;
        const bool is_hidden = detail::is_mark_of_direction(point);
        if (!has_begun && !is_digit && !is_sign && !is_hidden) {
            return std::string(field);
        }
        has_begun = has_begun || is_digit;
        has_full_width = has_full_width || (digit != '\0' && detail::is_full_width(point));
        has_changed = has_changed || digit != '\0' || is_hidden;
        if (digit != '\0' || mark != '\0') {
            plain += digit != '\0' ? digit : mark;
        } else if (!is_hidden) {
            plain += rest.substr(0, length);
        }
        rest.remove_prefix(length);
    }
    return has_changed && detail::is_number_or_time(plain, !has_full_width) ? plain : std::string(field);
}

}  // namespace totograph::io
