// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::size_t decode_utf8(std::string_view text, std::uint32_t& code_point) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    const std::uint32_t lead = byte(0);
    const std::size_t length = lead < 0x80         ? 1
                               : lead >> 5 == 0x6  ? 2
                               : lead >> 4 == 0xE  ? 3
                               : lead >> 3 == 0x1E ? 4
                                                   : 0;
    if (length == 0 || length > text.size()) {
        return 0;
    }
    code_point = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if (byte(i) >> 6 != 0x2) {
            return 0;
        }
        code_point = code_point << 6 | (byte(i) & 0x3FU);
    }
    constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
    return code_point < smallest[length] || code_point > 0x10FFFF || surrogate ? 0 : length;
}

TOTOGRAPH_INLINE bool append_printable(std::string& to, std::string_view text, std::size_t longest) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::size_t left = longest;
    while (!text.empty()) {
        std::uint32_t code_point = 0;
        const std::size_t decoded = decode_utf8(text, code_point);
        const std::size_t bytes = std::max<std::size_t>(decoded, 1);
        const bool as_it_is = decoded > 0 && is_printable(code_point);
        const std::size_t needed = as_it_is ? bytes : 4 * bytes;
        if (needed > left) {
            return false;
        }
        left -= needed;
        if (as_it_is) {
            to += text.substr(0, bytes);
        } else {
            for (const char character : text.substr(0, bytes)) {
                const auto byte = static_cast<unsigned char>(character);
                to += "\\x";
                to += digits[byte >> 4U];
                to += digits[byte & 15U];
            }
        }
        text.remove_prefix(bytes);
    }
    return true;
}

TOTOGRAPH_INLINE std::string in_quotes(std::string_view text, std::size_t longest) {
    longest = std::min(longest, longest_quote);
    std::string quoted = "'";
    if (append_printable(quoted, text, longest)) {
        return quoted + "'";
    }
    quoted = "'";
    append_printable(quoted, text, longest - longest / 3);
    quoted += "...";
    std::size_t begin = text.size() - std::min(text.size(), longest / 3);
    while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) {
        ++begin;
    }
    append_printable(quoted, text.substr(begin), longest / 3);
    return quoted + "'";
}

TOTOGRAPH_INLINE std::string as_argument(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/%+@";
    const bool is_word = !text.empty() && std::all_of(text.begin(), text.end(), [&](char letter) {
        return static_cast<unsigned char>(letter) >= 0x80 || plain.find(letter) != std::string_view::npos;
    });
    if (is_word) {
        return printable(text, longest_quote);
    }
    std::string quoted = "'";
    for (const char letter : text) {
        quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
    }
    return printable(quoted + "'", longest_quote);
}

TOTOGRAPH_INLINE std::string_view without_blanks(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace totograph::io
