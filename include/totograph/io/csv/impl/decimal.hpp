// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/decimal.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <totograph/core/inline.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE bool is_too_large(std::string_view digits) {
    if (digits.starts_with('-')) {
        digits.remove_prefix(1);
    }
    const std::size_t exponent_mark = digits.find_first_of("eE");
    const std::string_view mantissa = digits.substr(0, exponent_mark);
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    const std::size_t first = mantissa.find_first_not_of("0.");
    if (first == std::string_view::npos) {
        return false;
    }
    // The value is 0.d1d2d3... times ten to the power of `magnitude`, where d1 is not zero.
    std::int64_t magnitude = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
    if (first > point) {
        ++magnitude;
    }
    if (exponent_mark != std::string_view::npos) {
        std::string_view exponent = digits.substr(exponent_mark + 1);
        if (exponent.starts_with('+')) {
            exponent.remove_prefix(1);
        }
        std::int32_t power = 0;
        if (std::from_chars(exponent.data(), exponent.data() + exponent.size(), power).ec != std::errc{}) {
            return !exponent.starts_with('-');
        }
        magnitude += power;
    }
    return magnitude > 0;
}

}  // namespace detail

TOTOGRAPH_INLINE Decimal parse_decimal(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) {
            return {};
        }
    }
    double value = 0.0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ptr != text.data() + text.size() || result.ec == std::errc::invalid_argument) {
        return {};
    }
    if (result.ec == std::errc::result_out_of_range) {
        if (detail::is_too_large(text)) {
            return {DecimalKind::overflowing, 0.0};
        }
        return {DecimalKind::number, text.starts_with('-') ? -0.0 : 0.0};
    }
    if (std::isnan(value)) {
        return {};
    }
    if (std::isinf(value)) {
        return {DecimalKind::infinite, value};
    }
    constexpr double beyond_float = 0x1.ffffffp127;  // halfway from the largest float to what would be the next
    const bool is_too_far = !(std::abs(value) < beyond_float);
    return {is_too_far ? DecimalKind::overflowing : DecimalKind::number, value};
}

TOTOGRAPH_INLINE std::string format_decimal(double value) {
    char buffer[32];  // The longest double, like -1.7976931348623157e+308, takes 24 characters.
    const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
    return std::string(buffer, result.ptr);
}

}  // namespace totograph::io
