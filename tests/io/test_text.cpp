// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/text.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace totograph;

namespace {

/// A character by its code point, so that this file itself holds nothing that an editor would obey.
std::string utf8(unsigned code_point) {
    const auto byte = [](unsigned value) { return static_cast<char>(static_cast<unsigned char>(value)); };
    const auto last = [&](unsigned shift) { return byte(0x80U | (code_point >> shift & 0x3FU)); };
    if (code_point < 0x80) {
        return {byte(code_point)};
    }
    if (code_point < 0x800) {
        return {byte(0xC0U | code_point >> 6), last(0)};
    }
    if (code_point < 0x10000) {
        return {byte(0xE0U | code_point >> 12), last(6), last(0)};
    }
    return {byte(0xF0U | code_point >> 18), last(12), last(6), last(0)};
}

}  // namespace

TEST_CASE("text: printable text keeps letters of any script") {
    for (const std::string_view text : {"cpu µs 温度 😀", "plain", "", "\\ ' \"", "ά אב"}) {
        CHECK(io::printable(text) == text);
    }
    CHECK(io::printable(utf8(0x200D)) == utf8(0x200D));  // joins emoji and the letters of some scripts
    CHECK(io::printable(utf8(0x10FFFD)) == utf8(0x10FFFD));
}

TEST_CASE("text: what steers a terminal, turns the direction or is hidden is spelled by its bytes") {
    CHECK(io::printable("a\x1b[31mb\n") == "a\\x1b[31mb\\x0a");
    CHECK(io::printable(std::string_view("\0\x7f", 2)) == "\\x00\\x7f");
    CHECK(io::printable(utf8(0x9B)) == "\\xc2\\x9b");  // the one-character control sequence introducer
    CHECK(io::printable("a" + utf8(0x202E) + "b") == "a\\xe2\\x80\\xaeb");
    for (const unsigned hidden : {0x80U, 0x9FU, 0xADU, 0x61CU, 0x200BU, 0x200EU, 0x200FU, 0x2028U, 0x2029U, 0x202AU,
                                  0x2060U, 0x2066U, 0x2069U, 0xFEFFU, 0xFFFEU, 0xFFFFU, 0x1FFFFU, 0xE0041U}) {
        CAPTURE(hidden);
        CHECK(io::printable(utf8(hidden)).starts_with("\\x"));
    }
}

TEST_CASE("text: bytes that are no UTF-8 are spelled") {
    CHECK(io::printable("\xE4rger") == "\\xe4rger");                            // Latin-1
    CHECK(io::printable("\xC0\xAF") == "\\xc0\\xaf");                           // an overlong slash
    CHECK(io::printable("\xED\xA0\x80") == "\\xed\\xa0\\x80");                  // the first surrogate
    CHECK(io::printable("\xED\xBF\xBF") == "\\xed\\xbf\\xbf");                  // and the last one
    CHECK(io::printable("\xF4\x90\x80\x80").starts_with("\\x"));                // beyond the last code point
    CHECK(io::printable("ab\xE2\x82") == "ab\\xe2\\x82");                       // cut off in the middle
    CHECK(io::printable(std::string_view("\xE2\x82\xAC", 2)) == "\\xe2\\x82");  // whatever stands behind
    CHECK(io::printable("\x80") == "\\x80");
}

TEST_CASE("text: a limit cuts between characters") {
    CHECK(io::printable("abcd", 4) == "abcd");
    CHECK(io::printable("abcde", 4) == "abcd...");
    CHECK(io::printable("µµµ", 5) == "µµ...");
    CHECK(io::printable("ab\x1b", 5) == "ab...");
}

TEST_CASE("text: a quote is bounded and keeps both ends") {
    CHECK(io::in_quotes("") == "''");
    CHECK(io::in_quotes("a\x1b") == "'a\\x1b'");
    CHECK(io::in_quotes(std::string(80, 'a')) == "'" + std::string(80, 'a') + "'");
    CHECK(io::in_quotes("/first" + std::string(1000, '/') + "last.csv", 30) == "'/first//////////////...//last.csv'");
    CHECK(io::in_quotes(std::string(11'000'000, 'x'), 100'000'000).size() <= io::longest_quote + 5);
    CHECK(io::in_quotes(std::string(1000, '\x1b')).size() <= 85);
    // A tail that would begin inside of a character begins behind it.
    std::string letters;
    for (int i = 0; i < 200; ++i) {
        letters += "温";
    }
    CHECK(io::printable(io::in_quotes(letters)) == io::in_quotes(letters));
}

TEST_CASE("text: an argument is in quotes where a shell would not take it for one word") {
    for (const std::string_view text : {"store", "Sensor_2,a.b:c/d%+@-", "µs"}) {
        CHECK(io::as_argument(text) == text);
    }
    CHECK(io::as_argument("Sensor ID") == "'Sensor ID'");
    CHECK(io::as_argument("a;$(b)") == "'a;$(b)'");
    CHECK(io::as_argument("it's") == "'it'\\''s'");
    CHECK(io::as_argument("") == "''");
    CHECK(io::as_argument("a\nb") == "'a\\x0ab'");
    CHECK(io::as_argument(std::string(1000, 'a')).size() == io::longest_quote + 3);
}

TEST_CASE("text: blanks at both ends are removed and others kept") {
    CHECK(io::without_blanks(" \ta b\t ") == "a b");
    CHECK(io::without_blanks("a") == "a");
    CHECK(io::without_blanks(" \t ").empty());
    CHECK(io::without_blanks("").empty());
    CHECK(io::without_blanks("\na\n") == "\na\n");
}
