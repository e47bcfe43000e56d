// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE JsonValue JsonParser::parse() {
    if (constexpr std::string_view mark = "\xef\xbb\xbf"; text_.starts_with(mark)) {
        at_ = mark.size();
    }
    JsonValue document = read_value(0);
    skip_blanks();
    if (at_ != text_.size()) {
        expected("the end");
    }
    return document;
}

TOTOGRAPH_INLINE void JsonParser::broken(const std::string& what) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t column = at_ - (before.rfind('\n') + 1) + 1;  // `npos` is -1
    fail("is not JSON: line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + what + ".");
}

TOTOGRAPH_INLINE void JsonParser::expected(const std::string& what) const {
    const std::string_view rest = text_.substr(at_);
    const std::string_view before = text_.substr(0, at_);
    const std::size_t last = before.find_last_not_of(" \t\n\r");
    const bool closes = rest.starts_with('}') || rest.starts_with(']');
    const std::string_view advice = closes && last != std::string_view::npos && before[last] == ','
                                        ? "; remove the comma before it"
                                    : rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#')
                                        ? "; JSON has no comments, so remove it"
                                        : "";
    broken("expected " + what + ", found " + (rest.empty() ? "the end of the text" : in_quotes(rest.substr(0, 20))) +
           std::string(advice));
}

TOTOGRAPH_INLINE bool JsonParser::take(char character) {
    skip_blanks();
    const bool found = next() == character;
    at_ += found ? 1 : 0;
    return found;
}

TOTOGRAPH_INLINE JsonValue JsonParser::read_value(std::size_t depth) {
    skip_blanks();
    const char first = next();
    const bool is_container = first == '{' || first == '[';
    if (is_container && depth >= limits_.depth) {
        fail("nests deeper than the " + std::to_string(limits_.depth) + " levels that are accepted.");
    }
    if (++values_ > limits_.values) {
        fail("holds more than the " + std::to_string(limits_.values) + " values that are accepted.");
    }
    switch (first) {
        case '{': return read_object(depth);
        case '[': return read_array(depth);
        case '"': return JsonValue(read_string());
        case 't': read_word("true"); return JsonValue(true);
        case 'f': read_word("false"); return JsonValue(false);
        case 'n': read_word("null"); return {};
        default: return read_number();
    }
}

TOTOGRAPH_INLINE JsonValue JsonParser::read_object(std::size_t depth) {
    ++at_;
    std::vector<JsonValue> members;
    for (bool is_last = take('}'); !is_last;) {
        skip_blanks();
        if (next() != '"') {
            expected("a name in double quotes");
        }
        std::string name = read_string();
        if (!take(':')) {
            expected("':' after a name");
        }
        members.push_back(read_value(depth + 1).named(std::move(name)));
        is_last = take('}');
        if (!is_last && !take(',')) {
            expected("',' or '}' in an object");
        }
    }
    JsonValue object = JsonValue::object(std::move(members));
    const JsonValue* previous = nullptr;
    for (const JsonValue& member : object.items()) {
        if (previous != nullptr && previous->name() == member.name()) {
            fail("holds the key " + in_quotes(member.name(), longest_quote) +
                 " twice in one object; each key may stand once.");
        }
        previous = &member;
    }
    return object;
}

TOTOGRAPH_INLINE JsonValue JsonParser::read_array(std::size_t depth) {
    ++at_;
    std::vector<JsonValue> items;
    for (bool is_last = take(']'); !is_last;) {
        items.push_back(read_value(depth + 1));
        is_last = take(']');
        if (!is_last && !take(',')) {
            expected("',' or ']' in an array");
        }
    }
    return JsonValue::array(std::move(items));
}

TOTOGRAPH_INLINE void JsonParser::read_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) {
        expected("a value");
    }
    at_ += word.size();
}

TOTOGRAPH_INLINE std::string JsonParser::read_string() {
    ++at_;
    std::string value;
    std::size_t kept = at_;  // what stands between here and `at_` is yet to be copied
    while (next() != '"') {
        if (at_ == text_.size()) {
            broken("the text ends inside a string");
        }
        std::uint32_t code_point = 0;
        const std::size_t length = decode_utf8(text_.substr(at_), code_point);
        if (length == 0) {
            broken("a string holds bytes that are not UTF-8");
        }
        if (code_point < 0x20) {
            broken("a string holds a control character that is not escaped");
        }
        if (code_point == '\\') {
            value += text_.substr(kept, at_ - kept);
            read_escape(value);
            kept = at_;
        } else {
            at_ += length;
        }
    }
    value += text_.substr(kept, at_ - kept);
    ++at_;
    return value;
}

TOTOGRAPH_INLINE void JsonParser::read_escape(std::string& value) {
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view characters = "\"\\/\b\f\n\r\t";
    ++at_;
    if (next() == 'u') {
        ++at_;
        append_utf8(value, read_code_point());
        return;
    }
    const std::size_t place = names.find(next());
    if (place == std::string_view::npos) {
        broken("a string holds an unknown escape");
    }
    value += characters[place];
    ++at_;
}

TOTOGRAPH_INLINE std::uint32_t JsonParser::read_code_point() {
    const std::uint32_t first = read_hex();
    if (first < 0xD800 || first > 0xDFFF) {
        return first;
    }
    if (first < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
        at_ += 2;
        if (const std::uint32_t second = read_hex(); second >= 0xDC00 && second <= 0xDFFF) {
            return 0x10000 + ((first - 0xD800) << 10U) + (second - 0xDC00);
        }
    }
    broken("a string holds half a pair of surrogates");
}

TOTOGRAPH_INLINE std::uint32_t JsonParser::read_hex() {
    const std::string_view digits = text_.substr(at_, 4);
    std::uint32_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 4 || read.ptr != digits.data() + 4) {
        broken("an escape '\\u' has not four hexadecimal digits");
    }
    at_ += 4;
    return value;
}

TOTOGRAPH_INLINE void JsonParser::append_utf8(std::string& to, std::uint32_t code_point) {
    const auto append = [&](std::uint32_t byte) { to += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code_point < 0x80) {
        append(code_point);
        return;
    }
    const std::uint32_t following = code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
    constexpr std::uint32_t marks[] = {0, 0xC0, 0xE0, 0xF0};
    append(marks[following] | code_point >> (6 * following));
    for (std::uint32_t left = following; left-- > 0;) {
        append(0x80U | (code_point >> (6 * left) & 0x3FU));
    }
}

TOTOGRAPH_INLINE void JsonParser::skip_digits() {
    if (next() < '0' || next() > '9') {
        expected("a digit");
    }
    at_ = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
}

TOTOGRAPH_INLINE std::optional<double> JsonParser::read_not_finite() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr std::pair<std::string_view, double> words[] = {
        {"NaN", std::numeric_limits<double>::quiet_NaN()}, {"Infinity", infinity}, {"-Infinity", -infinity}};
    for (const auto& [word, value] : words) {
        if (limits_.not_finite && text_.substr(at_).starts_with(word)) {
            at_ += word.size();
            return value;
        }
    }
    return std::nullopt;
}

TOTOGRAPH_INLINE JsonValue JsonParser::read_number() {
    if (const std::optional<double> value = read_not_finite()) {
        return JsonValue(*value);
    }
    const std::size_t begin = at_;
    const bool is_negative = next() == '-';
    at_ += is_negative ? 1 : 0;
    if (!is_negative && (next() < '0' || next() > '9')) {
        expected("a value");
    }
    if (next() == '0') {
        ++at_;
    } else {
        skip_digits();
    }
    const std::size_t end_of_integer = at_;
    if (next() == '.') {
        ++at_;
        skip_digits();
    }
    if (next() == 'e' || next() == 'E') {
        ++at_;
        at_ += next() == '+' || next() == '-' ? 1 : 0;
        skip_digits();
    }
    const char* const first = text_.data() + begin;
    const char* const last = text_.data() + at_;
    if (at_ == end_of_integer) {
        std::int64_t negative = 0;
        std::uint64_t whole = 0;
        if (is_negative && std::from_chars(first, last, negative).ec == std::errc()) {
            return JsonValue(negative);
        }
        if (!is_negative && std::from_chars(first, last, whole).ec == std::errc()) {
            return JsonValue(whole);
        }
    }
    double number = 0;
    if (std::from_chars(first, last, number).ec != std::errc() || !std::isfinite(number)) {
        at_ = begin;
        broken("a number is beyond the range of double precision");
    }
    return JsonValue(number);
}

/// Whether a text begins with the byte order mark of UTF-16, or with two ASCII characters in it.
inline bool is_utf16(std::string_view text) {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
        return true;
    }
    const auto has_nuls = [&](std::size_t at) { return text[at] == '\0' && text[at + 2] == '\0'; };
    return text.size() >= 4 && text.size() % 2 == 0 && has_nuls(0) != has_nuls(1);
}

}  // namespace detail

TOTOGRAPH_INLINE JsonValue parse_json(std::string_view text, const std::string& where, JsonLimits limits) {
    if (limits.detects_utf16 && detail::is_utf16(text)) {
        throw Error(ErrorCode::invalid_file,
                    where + " is not JSON: it is text of UTF-16, as PowerShell writes it; save it as UTF-8.");
    }
    if (const std::size_t position = text.find('\0'); position != std::string_view::npos) {
        throw Error(ErrorCode::invalid_file,
                    where + " is not JSON: it holds a NUL byte at offset " + std::to_string(position) + ".");
    }
    JsonValue document = detail::JsonParser(text, where, limits).parse();
    if (!document.is_object()) {
        throw Error(ErrorCode::invalid_file, where + " must be a JSON object at its top level, but it is of type " +
                                                 std::string(document.type_name()) + ".");
    }
    return document;
}

}  // namespace totograph::io
