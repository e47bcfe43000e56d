// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <totograph/io/json.hpp>
#include <totograph/io/json_text.hpp>
#include <totograph/io/json_value.hpp>

#include "support.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;
using totograph::test::repetitions;

void refuses(std::string_view text, std::string_view part) {
    CAPTURE(std::string(text.substr(0, 100)));
    check_error(ErrorCode::invalid_file, {"The configuration", part},
                [&] { io::parse_json(text, "The configuration"); });
}

/// The member 'a' of an object.
io::JsonValue read(const std::string& text) {
    return *io::parse_json(text, "x").find("a");
}

std::string nested(int levels) {
    return "{\"a\":" + std::string(static_cast<std::size_t>(levels), '[') +
           std::string(static_cast<std::size_t>(levels), ']') + "}";
}

}  // namespace

TEST_CASE("json: an object parses") {
    const auto document = io::parse_json("\xef\xbb\xbf {\"a\": [1, {\"a\": null}], \"b\": {\"a\": 2}} \n", "x");
    CHECK(document.find("b")->find("a")->integer() == 2);
    CHECK(document.find("a")->items()[1].find("a")->is_null());
    CHECK(document.find("c") == nullptr);
    CHECK(document.items()[1].name() == "b");
}

TEST_CASE("json: broken text is refused with its line") {
    refuses("", "not JSON");
    refuses("{\n\"a\": 1,\n}", "line 3, column 1");
    refuses(R"({"a": 1 x})", "line 1, column 9");
    refuses(R"({"a": 1} x)", "not JSON");
    refuses(R"({"a": NaN})", "not JSON");
    refuses("{'a': 1}", "not JSON");
    refuses(R"({"a": 1 /* why */})", "not JSON");
    refuses(R"({"a": 1e999})", "not JSON");
    refuses("{\"a\": \"\xc3\"}", "not JSON");
    refuses(R"({"a": "\ud800"})", "not JSON");
    refuses(std::string_view("{}\0", 3), "NUL byte at offset 2");
}

TEST_CASE("json: what people write beyond JSON is told by what to do about it") {
    refuses("{\"a\": 1,\n}",
            "line 2, column 1: expected a name in double quotes, found '}'; remove the comma before it");
    refuses(R"({"a": [1, ]})", "found ']}'; remove the comma before it");
    refuses("{ // why\n}", "JSON has no comments");
    refuses("# why\n{}", "JSON has no comments");
    refuses(R"({"a": 1 /* why */})", "JSON has no comments");
    refuses(R"({"a": }})", "expected a value, found '}}'.");
    using namespace std::string_view_literals;
    for (const std::string_view text : {"\xff\xfe{\0}\0"sv, "\xfe\xff\0{\0}"sv, "{\0}\0"sv, "\0{\0}"sv}) {
        refuses(text, "is text of UTF-16, as PowerShell writes it; save it as UTF-8");
    }
    for (const std::string_view text : {"{\0"sv, "{\0}\0\n"sv, "{\0}}"sv, "\0{}}"sv, "\0\0\0\0"sv}) {
        refuses(text, "it holds a NUL byte at offset");
    }
    check_error(ErrorCode::invalid_file, {"it holds a NUL byte at offset 1"},
                [] { io::parse_json("{\0}\0"sv, "x", {.detects_utf16 = false}); });
}

TEST_CASE("json: numbers that are not finite are read where that is asked for") {
    const auto value = [](const std::string& text) {
        return *io::parse_json("{\"a\":" + text + "}", "x", {.not_finite = true}).find("a");
    };
    CHECK(std::isnan(*value("NaN").number()));
    CHECK(value("Infinity").number() == std::numeric_limits<double>::infinity());
    CHECK(value("[-Infinity]").items()[0].number() == -std::numeric_limits<double>::infinity());
    CHECK(value("-1").integer() == -1);
    for (const std::string text : {"nan", "-NaN", "inf", "Infinityx", "+Infinity"}) {
        check_error(ErrorCode::invalid_file, {"not JSON"}, [&] { (void)value(text); });
    }
}

TEST_CASE("json: numbers are what RFC 8259 calls them") {
    const auto number = [](const std::string& text) { return read("{\"a\":" + text + "}"); };
    CHECK(number("-9223372036854775808").integer() == std::numeric_limits<std::int64_t>::min());
    CHECK(number("18446744073709551615").whole() == std::numeric_limits<std::uint64_t>::max());
    CHECK(number("9223372036854775807").integer() == std::numeric_limits<std::int64_t>::max());
    CHECK_FALSE(number("9223372036854775808").integer());
    CHECK_FALSE(number("18446744073709551615").integer());
    CHECK_FALSE(number("18446744073709551616").is_integer());
    CHECK(number("18446744073709551616").number() == 0x1p64);
    CHECK_FALSE(number("8.0").is_integer());
    CHECK(number("-0.125").number() == -0.125);
    CHECK(number("1E-2").number() == 0.01);
    CHECK(number("1e+2").number() == 100.0);
    for (const std::string text : {"01", "+1", ".5", "1.", "1e", "1e+", "-", "--1", "0x1", "Infinity", "1 2"}) {
        refuses("{\"a\":" + text + "}", "not JSON");
    }
}

TEST_CASE("json: strings are unescaped") {
    const auto string = [](const std::string& text) { return *read("{\"a\":\"" + text + "\"}").string(); };
    CHECK(string(R"(\"\\\/\b\f\n\r\t)") == "\"\\/\b\f\n\r\t");
    CHECK(string(R"(x\u0041\u00e9\u20ACy\ud83d\uDE00)") == "xA\xc3\xa9\xe2\x82\xacy\xf0\x9f\x98\x80");
    CHECK(string(R"(\u0000)") == std::string(1, '\0'));
    for (const std::string text :
         {R"(\x)", R"(\u12)", R"(\u12g4)", R"(\u-123)", R"(\udc00)", R"(\ud800\u0041)", R"(\ud800x)", "\x01", "\n",
          "\x1f", "\xed\xa0\x80", "\xed\xbf\xbf", "\xc0\x80", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf"}) {
        refuses("{\"a\": \"" + text + "\"}", "not JSON");
    }
    refuses("{\"a\": \"x", "the text ends inside a string");
    refuses("{\"a\": \"\\", "not JSON");
}

TEST_CASE("json: a value is written as it was read, but for blanks and the order of names") {
    const auto written = [](std::string_view text) {
        std::string result;
        CHECK(io::append_json(result, io::parse_json(text, "x")));
        return result;
    };
    CHECK(written(R"( {"b" : [ 1 , -2, 8.0, 1e-8, 0.1, 1e20, 123456.5 ], "a": {"x": null, "": [true, false, {}]}})") ==
          R"({"a":{"":[true,false,{}],"x":null},"b":[1,-2,8.0,1e-08,0.1,1e+20,123456.5]})");
    CHECK(written(R"({"a": "\"\\\/\b\f\n\r\t\u0001\u00e9"})") == "{\"a\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\xc3\xa9\"}");
    CHECK(written(R"({"a": [1e15, 999999999999999.0, 1e-4, 9.99e-5]})") ==
          R"({"a":[1e+15,999999999999999.0,0.0001,9.99e-05]})");
    std::string result;
    CHECK_FALSE(io::append_json(result, io::JsonValue::object({io::JsonValue(std::string("\xff")).named("a")})));
    CHECK_FALSE(io::append_json(result, io::JsonValue::object({io::JsonValue(true).named("\xff")})));
}

TEST_CASE("json: other values than an object are refused at the top") {
    refuses("[]", "of type array");
    refuses("1", "of type number");
    refuses("null", "of type null");
    refuses(R"("text")", "of type string");
}

TEST_CASE("json: a key may stand once in an object and again in others") {
    refuses(R"({"a": 1, "b": 2, "a": 1})", "the key 'a' twice");
    refuses(R"({"x": [{"a": 1}, {"a": 1, "a": 2}]})", "the key 'a' twice");
    refuses(R"({"x": {"y": 1}, "x": 2})", "the key 'x' twice");
    CHECK(io::parse_json("{\"x\": [{\"a\": 1}, {\"a\": 1}], \"a\": 1}", "x").items().size() == 2);
}

TEST_CASE("json: nesting is accepted up to the limit and no deeper") {
    CHECK(io::parse_json(nested(31), "x").items().size() == 1);
    refuses(nested(32), "nests deeper than the 32 levels");
    refuses(nested(2'000'000), "nests deeper");
}

TEST_CASE("json: values are accepted up to the limit and no more are kept") {
    constexpr io::JsonLimits limits{.depth = 2, .values = 4};
    CHECK(io::parse_json(R"({"a": [1, 2]})", "x", limits).items().size() == 1);
    check_error(ErrorCode::invalid_file, {"x holds more than the 4 values"},
                [&] { io::parse_json(R"({"a": [1, 2, 3]})", "x", limits); });
    check_error(ErrorCode::invalid_file, {"x nests deeper than the 2 levels"},
                [&] { io::parse_json(R"({"a": [[]]})", "x", limits); });
}

// A parser that looks at all earlier values again for each takes hours here; the limit on a test's time notices.
TEST_CASE("json: the time for a large text grows with its size alone") {
    std::string objects = "{\"a\":[0";
    std::string keys = "{\"\":0";
    constexpr int count = repetitions(200'000);
    for (int i = 0; i < count; ++i) {
        objects += ",{}";
        keys += ",\"" + std::to_string(i) + "\":[]";
    }
    CHECK(io::parse_json(objects + "]}", "x").find("a")->items().size() == count + 1);
    CHECK(io::parse_json(keys + "}", "x").items().size() == count + 1);
}

TEST_CASE("json: long tokens and open brackets take no more than their length") {
    constexpr std::size_t size = 4'000'000;
    CHECK(io::parse_json("{\"a\":\"" + std::string(size, 'x') + "\"}", "x").find("a")->string()->size() == size);
    refuses("{\"a\":" + std::string(size, '1') + "}", "not JSON");
    refuses("{\"a\":\"" + std::string(size, 'x'), "not JSON");
    refuses(std::string(size, '['), "nests deeper");
}

TEST_CASE("json: what a broken text holds cannot steer a terminal") {
    refuses("{\"\xc2\x9b\": 1, \"\xc2\x9b\": 2}", "the key '\\xc2\\x9b' twice");
    try {
        io::parse_json("{\"\xc2\x9b\": 1, \"\xc2\x9b\x1b[31m\": 1}", "x");
        FAIL("nothing was thrown");
    } catch (const Error& error) {
        CHECK(std::string_view(error.what()).find('\x1b') == std::string_view::npos);
        CHECK(std::string_view(error.what()).find("\xc2\x9b") == std::string_view::npos);
    }
}

TEST_CASE("json: a message stays short however long the broken token is") {
    try {
        io::parse_json("{\"" + std::string(100'000, 'k'), "x");
        FAIL("nothing was thrown");
    } catch (const Error& error) {
        CHECK(std::string_view(error.what()).size() < 500);
    }
}
