// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace examples {

/// Number of terminal columns (one a code point) that valid UTF-8 text takes.
inline std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (const char byte : text) {
        width += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    }
    return width;
}

namespace detail {

/// Length in bytes of the well-formed UTF-8 sequence at the start of `text`, or 0; its code point goes to `code_point`.
inline std::size_t decode_utf8(std::string_view text, std::uint32_t& code_point) {
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
    const std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
    return code_point < smallest[length] || code_point > 0x10FFFF || surrogate ? 0 : length;
}

}  // namespace detail

/// Text from a file made safe to show: broken UTF-8, control characters (a terminal would obey them) and what XML
/// forbids become U+FFFD.
inline std::string printable(std::string_view text) {
    std::string clean;
    while (!text.empty()) {
        std::uint32_t code_point = 0;
        const std::size_t length = detail::decode_utf8(text, code_point);
        const bool control = code_point < 0x20 || (code_point >= 0x7F && code_point <= 0x9F);
        const bool direction =
            (code_point >= 0x202A && code_point <= 0x202E) || (code_point >= 0x2066 && code_point <= 0x2069);
        const bool forbidden = code_point == 0xFFFE || code_point == 0xFFFF;
        if (length == 0 || control || direction || forbidden) {
            clean += "\uFFFD";
        } else {
            clean += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return clean;
}

/// Valid UTF-8 text cut to at most `width` code points, the last one an ellipsis where something was cut.
inline std::string shortened(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) {
        return std::string(text);
    }
    if (width == 0) {
        return "";
    }
    std::size_t end = 0;
    for (std::size_t count = 0; end < text.size(); ++end) {
        const bool starts = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
        if (starts && count++ == width - 1) {
            break;
        }
    }
    return std::string(text.substr(0, end)) + "…";
}

/// `text` padded with spaces on the right (or on the left) to `width` columns.
inline std::string pad_right(std::string text, std::size_t width) {
    const std::size_t now = display_width(text);
    if (now < width) {
        text.append(width - now, ' ');
    }
    return text;
}
inline std::string pad_left(const std::string& text, std::size_t width) {
    const std::size_t now = display_width(text);
    return now < width ? std::string(width - now, ' ') + text : text;
}

/// The characters with a meaning in XML written as entities, after `printable`.
inline std::string escape_xml(std::string_view text) {
    std::string escaped;
    for (const char byte : printable(text)) {
        switch (byte) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            case '\'': escaped += "&#39;"; break;
            default: escaped += byte;
        }
    }
    return escaped;
}

/// A field of a CSV file, quoted where it must be.
inline std::string quote_csv(const std::string& field) {
    const bool edge = !field.empty() && (field.front() == ' ' || field.back() == ' ');
    if (!edge && field.find_first_of(",\"\r\n") == std::string::npos) {
        return field;
    }
    std::string quoted = "\"";
    for (const char byte : field) {
        if (byte == '"') {
            quoted += '"';
        }
        quoted += byte;
    }
    return quoted + '"';
}

}  // namespace examples
