// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "support.hpp"
#include "totograph/io/json.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;

void refuses(std::string_view text, std::string_view part) {
    CAPTURE(std::string(text.substr(0, 100)));
    check_error(ErrorCode::invalid_file, {"The configuration", part},
                [&] { io::parse_json(text, "The configuration"); });
}

std::string nested(int levels) {
    return "{\"a\":" + std::string(static_cast<std::size_t>(levels), '[') +
           std::string(static_cast<std::size_t>(levels), ']') + "}";
}

}  // namespace

TEST_CASE("json: an object parses") {
    const auto document = io::parse_json("\xef\xbb\xbf {\"a\": [1, {\"a\": null}], \"b\": {\"a\": 2}} \n", "x");
    CHECK(document.at("b").at("a") == 2);
    CHECK(document.at("a").at(1).at("a").is_null());
}

TEST_CASE("json: broken text is refused with its line") {
    refuses("", "not JSON");
    refuses("{\n\"a\": 1,\n}", "line 3");
    refuses(R"({"a": 1} x)", "not JSON");
    refuses(R"({"a": NaN})", "not JSON");
    refuses("{'a': 1}", "not JSON");
    refuses(R"({"a": 1 /* why */})", "not JSON");
    refuses(R"({"a": 1e999})", "not JSON");
    refuses("{\"a\": \"\xc3\"}", "not JSON");
    refuses(R"({"a": "\ud800"})", "not JSON");
    refuses(std::string_view("{}\0", 3), "NUL byte at offset 2");
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
    CHECK(io::parse_json("{\"x\": [{\"a\": 1}, {\"a\": 1}], \"a\": 1}", "x").size() == 2);
}

TEST_CASE("json: nesting is accepted up to the limit and no deeper") {
    CHECK(io::parse_json(nested(31), "x").size() == 1);
    refuses(nested(32), "nests deeper than the 32 levels");
    refuses(nested(2'000'000), "nests deeper");
}

TEST_CASE("json: values are accepted up to the limit and no more are kept") {
    constexpr io::JsonLimits limits{.depth = 2, .values = 4};
    CHECK(io::parse_json(R"({"a": [1, 2]})", "x", limits).size() == 1);
    check_error(ErrorCode::invalid_file, {"x holds more than the 4 values"},
                [&] { io::parse_json(R"({"a": [1, 2, 3]})", "x", limits); });
    check_error(ErrorCode::invalid_file, {"x nests deeper than the 2 levels"},
                [&] { io::parse_json(R"({"a": [[]]})", "x", limits); });
}

// A parser that looks at all earlier values again for each takes hours here; the limit on a test's time notices.
TEST_CASE("json: the time for a large text grows with its size alone") {
    std::string objects = "{\"a\":[0";
    std::string keys = "{\"\":0";
    for (int i = 0; i < 200'000; ++i) {
        objects += ",{}";
        keys += ",\"" + std::to_string(i) + "\":[]";
    }
    CHECK(io::parse_json(objects + "]}", "x").at("a").size() == 200'001);
    CHECK(io::parse_json(keys + "}", "x").size() == 200'001);
}

TEST_CASE("json: long tokens and open brackets take no more than their length") {
    constexpr std::size_t size = 4'000'000;
    CHECK(io::parse_json("{\"a\":\"" + std::string(size, 'x') + "\"}", "x").at("a").get<std::string>().size() == size);
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
