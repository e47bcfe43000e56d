// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <totograph/core/list.hpp>

namespace totograph::io {

/// Writes JSON while compiling, for text that is to stand in a file of machine code. Strings are printable ASCII
/// without quotes and backslashes.
///
///     json.begin_object().member("patch_size", 16).end_object();
class ConstantJson {
public:
    [[nodiscard]] constexpr std::string_view text() const { return {text_.data(), text_.size()}; }

    constexpr ConstantJson& begin_object() { return open('{'); }
    constexpr ConstantJson& end_object() { return close('}'); }
    constexpr ConstantJson& begin_array() { return open('['); }
    constexpr ConstantJson& end_array() { return close(']'); }

    constexpr ConstantJson& key(std::string_view name) {
        value(name);
        text_.push_back(':');
        follows_ = false;
        return *this;
    }
    template <class Value>
    constexpr ConstantJson& member(std::string_view name, const Value& what) {
        return key(name).value(what);
    }

    constexpr ConstantJson& value(std::string_view what) {
        separate();
        text_.push_back('"');
        append(what);
        text_.push_back('"');
        return *this;
    }
    constexpr ConstantJson& value(const char* what) { return value(std::string_view(what)); }
    constexpr ConstantJson& value(bool what) {
        separate();
        append(what ? "true" : "false");
        return *this;
    }
    constexpr ConstantJson& value(std::int64_t what) {
        separate();
        append_integer(what);
        return *this;
    }
    constexpr ConstantJson& value(int what) { return value(std::int64_t{what}); }
    /// A number that few decimal digits spell, as those of configurations are: a whole number over a power of ten.
    constexpr ConstantJson& value(double what) {
        separate();
        double scale = 1;
        int digits = 0;
        const auto scaled = [&] {
            const double product = what * scale;
            return static_cast<std::int64_t>(product < 0 ? product - 0.5 : product + 0.5);
        };
        while (static_cast<double>(scaled()) / scale != what) {
            ++digits;
            scale *= 10;
            if (digits > 15) {
                throw "a number of a configuration has more digits than its JSON can spell";  // ends the compilation
            }
        }
        append_integer(scaled());
        if (digits > 0) {
            append("e-");
            append_integer(digits);
        }
        return *this;
    }

private:
    constexpr ConstantJson& open(char bracket) {
        separate();
        text_.push_back(bracket);
        follows_ = false;
        return *this;
    }
    constexpr ConstantJson& close(char bracket) {
        text_.push_back(bracket);
        follows_ = true;
        return *this;
    }
    constexpr void separate() {
        if (follows_) {
            text_.push_back(',');
        }
        follows_ = true;
    }
    constexpr void append(std::string_view what) {
        for (const char letter : what) {
            text_.push_back(letter);
        }
    }
    constexpr void append_integer(std::int64_t what) {
        if (what < 0) {
            text_.push_back('-');
        }
        std::array<char, 20> digits{};
        std::size_t count = 0;
        do {
            const std::int64_t digit = what % 10;
            digits[count++] = static_cast<char>('0' + (digit < 0 ? -digit : digit));
            what /= 10;
        } while (what != 0);
        while (count > 0) {
            text_.push_back(digits[--count]);
        }
    }

    List<char> text_;       // `std::vector` is no constant in debug mode of libstdc++
    bool follows_ = false;  ///< Whether a comma comes before the next value.
};

/// What `Document::write(ConstantJson&)` writes, as an array that a constant can be.
template <class Document>
consteval auto constant_json() {
    constexpr std::size_t size = [] {
        ConstantJson json;
        Document::write(json);
        return json.text().size();
    }();
    std::array<char, size> text{};
    ConstantJson json;
    Document::write(json);
    std::copy_n(json.text().begin(), size, text.begin());
    return text;
}

}  // namespace totograph::io
