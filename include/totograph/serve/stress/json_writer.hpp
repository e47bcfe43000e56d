// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace totograph::serve {

/// Writes JSON from the outside in, indented. Compiles in no time, which the parser's own writer does not.
///
///     JsonWriter json;                                   // an object is open
///     json.key("name").value("a").key("list").open('[');
///     json.value(1).value(2).close(']');
///     file << json.text();                               // closes it
class JsonWriter {
public:
    /// Begins the value of a key.
    JsonWriter& key(std::string_view name) {
        separate();
        quote(name);
        text_ += ": ";
        follows_key_ = true;
        return *this;
    }

    /// Opens an object `{` or a list `[`.
    JsonWriter& open(char bracket) {
        separate();
        text_ += bracket;
        ++depth_;
        is_first_ = true;
        return *this;
    }
    /// Closes it with `}` or `]`.
    JsonWriter& close(char bracket) {
        --depth_;
        if (!is_first_) {
            new_line();
        }
        text_ += bracket;
        is_first_ = false;
        return *this;
    }

    JsonWriter& value(std::string_view words) {
        separate();
        quote(words);
        return *this;
    }
    JsonWriter& value(const char* words) { return value(std::string_view(words)); }
    JsonWriter& value(bool is) { return raw(is ? "true" : "false"); }
    /// The shortest text that reads back as the same number; null when it is not finite.
    JsonWriter& value(double number) {
        if (!std::isfinite(number)) {
            return raw("null");
        }
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        return raw({digits.data(), static_cast<std::size_t>(end - digits.data())});
    }
    JsonWriter& value(std::integral auto number) { return raw(std::to_string(number)); }

    /// The whole document.
    [[nodiscard]] std::string text() {
        close('}');
        return text_ + "\n";
    }

private:
    JsonWriter& raw(std::string_view words) {
        separate();
        text_ += words;
        return *this;
    }

    void new_line() {
        text_ += '\n';
        text_.append(2 * depth_, ' ');
    }

    /// What stands before a key, or before a value in a list.
    void separate() {
        if (follows_key_) {
            follows_key_ = false;
            return;
        }
        text_ += is_first_ ? "" : ",";
        is_first_ = false;
        new_line();
    }

    /// Length of the UTF-8 sequence at the front of `words`; 0 when there is none.
    static std::size_t sequence_length(std::string_view words) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(words[i]); };
        const std::size_t length = byte(0) < 0x80U                       ? 1
                                   : byte(0) >= 0xC2U && byte(0) < 0xE0U ? 2
                                   : byte(0) >= 0xE0U && byte(0) < 0xF0U ? 3
                                   : byte(0) >= 0xF0U && byte(0) < 0xF5U ? 4
                                                                         : 0;
        if (length == 0 || length > words.size()) {
            return 0;
        }
        for (std::size_t i = 1; i < length; ++i) {
            if ((byte(i) & 0xC0U) != 0x80U) {
                return 0;
            }
        }
        // Overlong forms, surrogates, and what lies beyond the last code point.
        const bool is_wrong =
            length > 1 && ((byte(0) == 0xE0U && byte(1) < 0xA0U) || (byte(0) == 0xEDU && byte(1) > 0x9FU) ||
                           (byte(0) == 0xF0U && byte(1) < 0x90U) || (byte(0) == 0xF4U && byte(1) > 0x8FU));
        return is_wrong ? 0 : length;
    }

    void quote(std::string_view words) {
        constexpr std::string_view digits = "0123456789abcdef";
        text_ += '"';
        while (!words.empty()) {
            const auto byte = static_cast<unsigned char>(words.front());
            std::size_t length = sequence_length(words);
            if (length == 0) {
                text_ += "\xEF\xBF\xBD";  // U+FFFD for a byte that is no text
                length = 1;
            } else if (byte < 0x20U) {
                text_ += std::string("\\u00") + digits[byte >> 4U] + digits[byte & 15U];
            } else {
                text_ += byte == '"' || byte == '\\' ? "\\" : "";
                text_ += words.substr(0, length);
            }
            words.remove_prefix(length);
        }
        text_ += '"';
    }

    std::string text_ = "{";
    std::size_t depth_ = 1;
    bool is_first_ = true;
    bool follows_key_ = false;
};

}  // namespace totograph::serve
