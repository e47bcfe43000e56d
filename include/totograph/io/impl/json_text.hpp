// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/json_text.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE bool append_json_string(std::string& to, std::string_view text) {
    constexpr std::string_view named = "\"\\\b\f\n\r\t";
    constexpr std::string_view names = "\"\\bfnrt";
    constexpr std::string_view digits = "0123456789abcdef";
    to += '"';
    while (!text.empty()) {
        std::uint32_t code_point = 0;
        const std::size_t length = decode_utf8(text, code_point);
        if (length == 0) {
            return false;
        }
        if (const std::size_t place = named.find(text[0]); place != std::string_view::npos) {
            to += '\\';
            to += names[place];
        } else if (code_point < 0x20) {
            to += "\\u00";
            to += digits[code_point >> 4U];
            to += digits[code_point & 15U];
        } else {
            to += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    to += '"';
    return true;
}

TOTOGRAPH_INLINE void append_json_number(std::string& to, double value) {
    if (!std::isfinite(value)) {
        to += "null";
        return;
    }
    const double size = std::fabs(value);
    const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e15);
    char buffer[32];
    const auto written = std::to_chars(buffer, buffer + sizeof buffer, value,
                                       is_plain ? std::chars_format::fixed : std::chars_format::scientific);
    const std::string_view text(buffer, static_cast<std::size_t>(written.ptr - buffer));
    to += text;
    if (text.find_first_of(".e") == std::string_view::npos) {
        to += ".0";
    }
}

TOTOGRAPH_INLINE bool append_json(std::string& to, const JsonValue& value) {
    if (const std::string* const string = value.string(); string != nullptr) {
        return append_json_string(to, *string);
    }
    if (value.is_array() || value.is_object()) {
        to += value.is_array() ? '[' : '{';
        bool is_first = true;
        for (const JsonValue& item : value.items()) {
            if (!is_first) {
                to += ',';
            }
            is_first = false;
            if (value.is_object()) {
                if (!append_json_string(to, item.name())) {
                    return false;
                }
                to += ':';
            }
            if (!append_json(to, item)) {
                return false;
            }
        }
        to += value.is_array() ? ']' : '}';
    } else if (const auto boolean = value.boolean()) {
        to += *boolean ? "true" : "false";
    } else if (const auto whole = value.whole()) {
        to += std::to_string(*whole);
    } else if (const auto integer = value.integer()) {
        to += std::to_string(*integer);
    } else if (const auto number = value.number()) {
        append_json_number(to, *number);
    } else {
        to += "null";
    }
    return true;
}

}  // namespace totograph::io
