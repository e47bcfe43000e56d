// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace totograph::io {

/// Text from a file as it may stand in an error message: in single quotes, control bytes as `\xNN` (a hostile file must
/// not steer a terminal), and cut when it is longer than `longest` bytes.
inline std::string in_quotes(std::string_view text, std::size_t longest = 80) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string result = "'";
    for (const char character : text.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte < 0x20 || byte == 0x7f) {
            result += "\\x";
            result += digits[byte >> 4U];
            result += digits[byte & 15U];
        } else {
            result += character;
        }
    }
    return result + (text.size() > longest ? "...'" : "'");
}

/// The operating system's words for an `errno` value.
inline std::string system_reason(int error_number) {
    return std::generic_category().message(error_number);
}

/// Removes spaces and tabs at both ends.
inline std::string_view without_blanks(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace totograph::io
