// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/text_encoding.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE EncodingMark encoding_of(std::string_view text) {
    using enum TextEncoding;
    if (text.starts_with("\xef\xbb\xbf")) {
        return {utf8, 3};
    }
    if (text.starts_with("\xff\xfe")) {
        return {utf16_little_endian, 2};
    }
    if (text.starts_with("\xfe\xff")) {
        return {utf16_big_endian, 2};
    }
    if (text.size() >= 4 && text[0] != '\0' && text[1] == '\0' && text[2] != '\0' && text[3] == '\0') {
        return {utf16_little_endian, 0};
    }
    if (text.size() >= 4 && text[0] == '\0' && text[1] != '\0' && text[2] == '\0' && text[3] != '\0') {
        return {utf16_big_endian, 0};
    }
    return {};
}

namespace detail {

TOTOGRAPH_INLINE void append_utf8(std::string& text, std::uint32_t code_point) {
    const auto byte = [&](std::uint32_t bits) { text += static_cast<char>(bits); };
    if (code_point < 0x80) {
        byte(code_point);
    } else if (code_point < 0x800) {
        byte(0xC0U | code_point >> 6U);
        byte(0x80U | (code_point & 0x3FU));
    } else if (code_point < 0x10000) {
        byte(0xE0U | code_point >> 12U);
        byte(0x80U | (code_point >> 6U & 0x3FU));
        byte(0x80U | (code_point & 0x3FU));
    } else {
        byte(0xF0U | code_point >> 18U);
        byte(0x80U | (code_point >> 12U & 0x3FU));
        byte(0x80U | (code_point >> 6U & 0x3FU));
        byte(0x80U | (code_point & 0x3FU));
    }
}

}  // namespace detail

TOTOGRAPH_INLINE std::string utf8_of_utf16(std::string_view text, TextEncoding encoding) {
    const std::size_t low = encoding == TextEncoding::utf16_little_endian ? 0 : 1;
    const auto unit = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[2 * i + low])) |
               static_cast<std::uint32_t>(static_cast<unsigned char>(text[2 * i + 1 - low])) << 8U;
    };
    const std::size_t units = text.size() / 2;
    constexpr std::uint32_t broken = 0xFFFD;
    std::string result;
    result.reserve(units);
    for (std::size_t i = 0; i < units; ++i) {
        const std::uint32_t first = unit(i);
        const bool is_pair = first >= 0xD800 && first < 0xDC00 && i + 1 < units && (unit(i + 1) & 0xFC00U) == 0xDC00;
        if (is_pair) {
            detail::append_utf8(result, 0x10000 + ((first - 0xD800) << 10U) + (unit(++i) - 0xDC00));
        } else {
            detail::append_utf8(result, first >= 0xD800 && first < 0xE000 ? broken : first);
        }
    }
    return result;
}

TOTOGRAPH_INLINE std::string_view as_utf8(std::string_view text, std::string& decoded) {
    const EncodingMark mark = encoding_of(text);
    const std::string_view bytes = text.substr(mark.length);
    if (mark.encoding == TextEncoding::utf8) {
        return bytes;
    }
    decoded = utf8_of_utf16(bytes, mark.encoding);
    return decoded;
}

TOTOGRAPH_INLINE void refuse_packed(std::string_view text, std::string_view file_name) {
    struct Kind {
        std::string_view magic;
        std::string_view what;
        std::string_view remedy;
    };
    constexpr Kind kinds[] = {
        {"\x1f\x8b", "is compressed by gzip", "Unpack it with gunzip first, or read it with io/gzip.hpp"},
        {"PK\x03\x04", "is a ZIP archive, which may be a workbook", "Unpack it, or export the table as CSV"},
        {"BZh", "is compressed by bzip2", "Unpack it with bunzip2 first"},
        {"\xfd"
         "7zXZ",
         "is compressed by xz", "Unpack it with unxz first"},
        {"\x28\xb5\x2f\xfd", "is compressed by zstd", "Unpack it with unzstd first"},
        {"PAR1", "is a Parquet file", "Export the table as CSV"}};
    for (const Kind& kind : kinds) {
        if (text.starts_with(kind.magic)) {
            throw Error(ErrorCode::invalid_file, "The file " + in_quotes(file_name, longest_quote) + " " +
                                                     std::string(kind.what) + ". " + std::string(kind.remedy) + ".");
        }
    }
}

TOTOGRAPH_INLINE void refuse_markup(std::string_view text, std::string_view file_name) {
    const auto skip_blanks = [](std::string_view rest) {
        return rest.substr(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    };
    const std::string_view begin = skip_blanks(text);
    const auto is_behind = [&](char bracket, std::string_view next) {
        const std::string_view rest = begin.starts_with(bracket) ? skip_blanks(begin.substr(1)) : std::string_view();
        return !rest.empty() && next.find(rest[0]) != std::string_view::npos;
    };
    const bool is_json = is_behind('{', "\"") || is_behind('[', "{[");
    std::string tag(begin.substr(0, 6));
    std::transform(tag.begin(), tag.end(), tag.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
    });
    const bool is_xml =
        tag.starts_with("<?xml") || tag.starts_with("<!") || tag.starts_with("<html") || tag == "<table";
    if (is_json || is_xml) {
        throw Error(ErrorCode::invalid_file,
                    "The file " + in_quotes(file_name, longest_quote) +
                        (is_json ? " holds JSON, not a table. Write its values as CSV, a row for each time."
                                 : " is a page or document in HTML or XML, not a table. Download or export the table "
                                   "as CSV."));
    }
}

}  // namespace totograph::io
