// SPDX-License-Identifier: Apache-2.0
#include "../../examples/common/text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace examples;

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
    CHECK(escape_xml("a<b>&\"c'\x01") == "a&lt;b&gt;&amp;&quot;c&#39;\\x01");
}

TEST_CASE("CSV fields are quoted only where they must be") {
    CHECK(quote_csv("cpu") == "cpu");
    CHECK(quote_csv("a,b") == "\"a,b\"");
    CHECK(quote_csv("say \"hi\"") == "\"say \"\"hi\"\"\"");
    CHECK(quote_csv("two\nlines") == "\"two\nlines\"");
    CHECK(quote_csv(" edge") == "\" edge\"");
    CHECK(quote_csv("").empty());
}
