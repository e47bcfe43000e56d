// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

// Foreign text is what a file, a file's name or a command line says. Nothing of it reaches a message, a terminal or a
// picture but through `printable`, `in_quotes` or `as_argument`.

namespace totograph::io {

/// The most of one piece of foreign text that stands in a message, in bytes.
inline constexpr std::size_t longest_quote = 300;

/// Length in bytes of the well-formed UTF-8 sequence at the start of a text that is not empty, or 0; its code point
/// goes to `code_point`.
std::size_t decode_utf8(std::string_view text, std::uint32_t& code_point) noexcept;

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
bool append_printable(std::string& to, std::string_view text, std::size_t longest);

/// Foreign text as it may be shown: valid UTF-8 in which each byte of a character that is not printable, and each byte
/// that is no UTF-8, is spelled `\xNN`. Where that takes more than `longest` bytes the rest becomes "...".
inline std::string printable(std::string_view text, std::size_t longest = std::string_view::npos) {
    std::string shown;
    return append_printable(shown, text, longest) ? shown : shown + "...";
}

/// Foreign text as it stands in a message: printable, and in single quotes. What takes more than `longest` bytes (or
/// `longest_quote`) keeps its first and its last part, for the end of a path tells most.
std::string in_quotes(std::string_view text, std::size_t longest = 80);

/// Foreign text as an argument that a message advises: in quotes where a shell would take it for something else than
/// one word, printable, and at most `longest_quote` bytes of it.
std::string as_argument(std::string_view text);

/// The operating system's words for an `errno` value.
inline std::string system_reason(int error_number) {
    return std::generic_category().message(error_number);
}

/// Removes spaces and tabs at both ends.
std::string_view without_blanks(std::string_view text);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/text.hpp>
#endif
