// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

// Foreign text is what a file, a file's name or a command line says. Nothing of it reaches a message, a terminal or a
// picture but through `printable` or `in_quotes`.

namespace totograph::io {

/// The most of one piece of foreign text that stands in a message, in bytes.
inline constexpr std::size_t longest_quote = 300;

/// Length in bytes of the well-formed UTF-8 sequence at the start of a text that is not empty, or 0; its code point
/// goes to `code_point`.
inline std::size_t decode_utf8(std::string_view text, std::uint32_t& code_point) noexcept {
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

/// Whether a character may be shown as it is: it steers no terminal, does not turn the direction of reading or the
/// line, is not hidden, and XML allows it.
constexpr bool is_printable(std::uint32_t code_point) noexcept {
    const auto within = [&](std::uint32_t first, std::uint32_t last) {
        return code_point >= first && code_point <= last;
    };
    const bool control = code_point < 0x20 || within(0x7F, 0x9F);
    // Marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs.
    const bool direction =
        code_point == 0x61C || within(0x200E, 0x200F) || within(0x2028, 0x202E) || within(0x2066, 0x206F);
    // The soft hyphen, zero widths (but for the joiners, which scripts and emoji need), the byte-order mark, tags.
    const bool hidden = code_point == 0xAD || code_point == 0x200B || within(0x2060, 0x2064) || code_point == 0xFEFF ||
                        within(0xFFF9, 0xFFFB) || within(0xE0000, 0xE007F);
    return !control && !direction && !hidden && (code_point & 0xFFFEU) != 0xFFFEU;
}

/// Appends foreign text as `printable` spells it, whole characters only, as long as all that is appended takes at most
/// `longest` bytes. Returns whether all of it fitted.
inline bool append_printable(std::string& to, std::string_view text, std::size_t longest) {
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

/// Foreign text as it may be shown: valid UTF-8 in which each byte of a character that is not printable, and each byte
/// that is no UTF-8, is spelled `\xNN`. Where that takes more than `longest` bytes the rest becomes "...".
inline std::string printable(std::string_view text, std::size_t longest = std::string_view::npos) {
    std::string shown;
    return append_printable(shown, text, longest) ? shown : shown + "...";
}

/// Foreign text as it stands in a message: printable, and in single quotes. What takes more than `longest` bytes (or
/// `longest_quote`) keeps its first and its last part, for the end of a path tells most.
inline std::string in_quotes(std::string_view text, std::size_t longest = 80) {
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
