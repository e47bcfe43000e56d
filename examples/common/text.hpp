// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <totograph/io/text.hpp>

namespace examples {

/// Number of terminal columns (one a code point) that valid UTF-8 text takes.
inline std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (const char byte : text) {
        width += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    }
    return width;
}

using totograph::io::printable;

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
