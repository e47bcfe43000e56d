// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>

// A reader of its own, for headers of other libraries take longer to compile than all that is read with them.

namespace totograph::io {

/// What `parse_json` accepts. A text that asks for more is refused before more is kept.
struct JsonLimits {
    std::size_t depth = 32;          ///< How deep objects and arrays may nest.
    std::size_t values = 1'000'000;  ///< Objects, arrays, strings, numbers, booleans and nulls, all together.
    bool detects_utf16 = true;  ///< Whether text in UTF-16 is refused by that name; not where JSON is in a binary file.
    bool not_finite = false;    ///< Whether NaN, Infinity and -Infinity are numbers, as Python's `json` writes them.
};

namespace detail {

/// Reads a text as RFC 8259 describes it, from its first byte to its last.
class JsonParser {
public:
    JsonParser(std::string_view text, const std::string& where, JsonLimits limits)
        : text_(text), where_(where), limits_(limits) {}

    JsonValue parse();

private:
    [[noreturn]] void fail(const std::string& what) const { throw Error(ErrorCode::invalid_file, where_ + " " + what); }

    /// What is wrong where the parser stands.
    [[noreturn]] void broken(const std::string& what) const;

    /// What stands there instead of what was expected, and what to do where that is known.
    [[noreturn]] void expected(const std::string& what) const;

    [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

    /// Steps over a character; returns whether it is there.
    bool take(char character);

    JsonValue read_value(std::size_t depth);

    JsonValue read_object(std::size_t depth);

    JsonValue read_array(std::size_t depth);

    void read_word(std::string_view word);

    std::string read_string();

    void read_escape(std::string& value);

    /// Of an escape of four hexadecimal digits, or of two that are a pair of surrogates; the parser stands behind the
    /// first `u`.
    std::uint32_t read_code_point();

    std::uint32_t read_hex();

    static void append_utf8(std::string& to, std::uint32_t code_point);

    /// Steps over digits; there must be one.
    void skip_digits();

    JsonValue read_number();

    /// A number that is not finite, where these are accepted; nothing where there is none.
    std::optional<double> read_not_finite();

    std::string_view text_;
    const std::string& where_;
    JsonLimits limits_;
    std::size_t at_ = 0;
    std::size_t values_ = 0;
};

}  // namespace detail

/// Parses a JSON object, in time (but for the logarithm of an object's size) and memory linear in its text. A key that
/// an object holds twice, more depth or values than the limits, NUL bytes, and a top level that is not an object are
/// errors; so are integers and fractions that no double holds. Integers beyond 64 bits become fractions.
///
/// `where` begins each message, as in "The header of 'model.safetensors'". Throws `Error(invalid_file)`.
JsonValue parse_json(std::string_view text, const std::string& where, JsonLimits limits = {});

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/json.hpp>
#endif
