// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/io/csv/text_encoding.hpp>

using totograph::io::encoding_of;
using totograph::io::TextEncoding;
using totograph::io::utf8_of_utf16;

namespace {

/// Units of UTF-16, the lower byte first.
std::string little_endian(std::u16string_view units) {
    std::string bytes;
    for (const char16_t unit : units) {
        bytes += static_cast<char>(unit & 0xffU);
        bytes += static_cast<char>(unit >> 8U);
    }
    return bytes;
}

std::string decoded(std::u16string_view units) {
    return utf8_of_utf16(little_endian(units), TextEncoding::utf16_little_endian);
}

}  // namespace

TEST_CASE("characters of one to four bytes begin and end where UTF-8 says") {
    CHECK(decoded({u"\u007f", 1}) == "\x7f");
    CHECK(decoded({u"\u0080", 1}) == "\xc2\x80");
    CHECK(decoded({u"\u07ff", 1}) == "\xdf\xbf");
    CHECK(decoded({u"\u0800", 1}) == "\xe0\xa0\x80");
    CHECK(decoded({u"\uffff", 1}) == "\xef\xbf\xbf");
    CHECK(decoded({u"\U00010000", 2}) == "\xf0\x90\x80\x80");
    CHECK(decoded({u"\U0010ffff", 2}) == "\xf4\x8f\xbf\xbf");
    CHECK(utf8_of_utf16(std::string_view("\xd8\x3d\xde\x00", 4), TextEncoding::utf16_big_endian) == "\xf0\x9f\x98\x80");
}

TEST_CASE("halves of characters are marked where the other half is missing") {
    const std::string mark = "\xef\xbf\xbd";
    constexpr char16_t first = 0xd83d;
    constexpr char16_t second = 0xde00;
    constexpr char16_t smallest_second = 0xdc00;
    CHECK(decoded(std::u16string{second, first}) == mark + mark);
    CHECK(decoded(std::u16string{smallest_second, second}) == mark + mark);
    CHECK(decoded(std::u16string{first, first, second}) == mark + "\xf0\x9f\x98\x80");
    CHECK(decoded(std::u16string{char16_t{0xdfff}, u'a'}) == mark + "a");
    CHECK(decoded(std::u16string{char16_t{0xe000}}) == "\xee\x80\x80");
    // What stands behind the text is not read, nor is half of a unit.
    const std::string whole = little_endian(std::u16string{first, second});
    CHECK(utf8_of_utf16(std::string_view(whole).substr(0, 2), TextEncoding::utf16_little_endian) == mark);
    CHECK(utf8_of_utf16(std::string_view(whole).substr(0, 3), TextEncoding::utf16_little_endian) == mark);
}

TEST_CASE("an encoding shows itself by a mark, or by empty halves of two characters") {
    const auto is = [](std::string_view text, TextEncoding encoding, std::size_t length) {
        const auto mark = encoding_of(text);
        return mark.encoding == encoding && mark.length == length;
    };
    CHECK(is("a,b", TextEncoding::utf8, 0));
    CHECK(is("", TextEncoding::utf8, 0));
    CHECK(is("\xef\xbb\xbf", TextEncoding::utf8, 3));
    CHECK(is("\xef\xbb", TextEncoding::utf8, 0));
    CHECK(is("\xff\xfe", TextEncoding::utf16_little_endian, 2));
    CHECK(is("\xfe\xff", TextEncoding::utf16_big_endian, 2));
    using namespace std::string_view_literals;
    CHECK(is("a\0b\0"sv, TextEncoding::utf16_little_endian, 0));
    CHECK(is("\0a\0b"sv, TextEncoding::utf16_big_endian, 0));
    CHECK(is("a\0b"sv, TextEncoding::utf8, 0));
    CHECK(is("a\0\0\0"sv, TextEncoding::utf8, 0));
}
