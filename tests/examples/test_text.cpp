// SPDX-License-Identifier: Apache-2.0
#include "../../examples/common/text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace examples;

TEST_CASE("printable text keeps letters of any script and loses what steers a terminal") {
    // U+202E put together from its bytes, so that this file itself reads in one direction.
    const std::string right_to_left = std::string("a\xE2\x80") + "\xAE" + "b";
    CHECK(printable("cpu µs 温度 😀") == "cpu µs 温度 😀");
    CHECK(printable("a\x1b[31mb\n") == "a\uFFFD[31mb\uFFFD");
    CHECK(printable("\xC2\x9B") == "\uFFFD");        // the one-character control sequence introducer
    CHECK(printable(right_to_left) == "a\uFFFDb");   // right-to-left override
    CHECK(printable("\xE4rger") == "\uFFFDrger");    // Latin-1
    CHECK(printable("\xC0\xAF") == "\uFFFD\uFFFD");  // an overlong slash
    CHECK(printable("\xED\xA0\x80").find('\xED') == std::string::npos);  // a surrogate
    CHECK(printable("ab\xE2\x82") == "ab\uFFFD\uFFFD");                  // cut off in the middle
    CHECK(printable("\xEF\xBF\xBF") == "\uFFFD");                        // U+FFFF, which XML forbids
    CHECK(printable("").empty());
}

TEST_CASE("widths count code points") {
    CHECK(display_width("µs") == 2);
    CHECK(pad_left("µs", 4) == "  µs");
    CHECK(pad_right("µs", 4) == "µs  ");
    CHECK(pad_right("long", 2) == "long");
}

TEST_CASE("shortened text ends in an ellipsis and never splits a character") {
    CHECK(shortened("memory", 6) == "memory");
    CHECK(shortened("memory", 4) == "mem…");
    CHECK(shortened("µµµµ", 3) == "µµ…");
    CHECK(shortened("abc", 1) == "…");
    CHECK(shortened("abc", 0).empty());
}

TEST_CASE("XML escapes") {
    CHECK(escape_xml("a<b>&\"c'\x01") == "a&lt;b&gt;&amp;&quot;c&#39;\uFFFD");
}

TEST_CASE("CSV fields are quoted only where they must be") {
    CHECK(quote_csv("cpu") == "cpu");
    CHECK(quote_csv("a,b") == "\"a,b\"");
    CHECK(quote_csv("say \"hi\"") == "\"say \"\"hi\"\"\"");
    CHECK(quote_csv("two\nlines") == "\"two\nlines\"");
    CHECK(quote_csv(" edge") == "\" edge\"");
    CHECK(quote_csv("").empty());
}
