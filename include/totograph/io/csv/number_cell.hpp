// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <totograph/io/csv/decimal.hpp>

namespace totograph::io {

/// What stands before the decimals of a number.
enum class DecimalMark { point, comma };

/// A number as people write it: "1,234.5", "-3.2e4", "12.3 GiB", "$5".
struct NumberParts {
    std::string digits;  ///< Sign, digits, their marks, exponent; marks between thousands other than , and . are gone.
    std::string_view unit;  ///< What stands behind, or the currency before; empty without.
};

/// What the numbers seen so far tell about their decimal mark. "1,5" tells; "1,234" could be either.
struct MarkEvidence {
    bool is_point = false;
    bool is_comma = false;
    bool has_unclear_point = false;
    bool has_unclear_comma = false;
    bool has_short_whole = false;  ///< One without marks, whole, of three digits or fewer: it has no thousands.
    bool has_long_whole = false;   ///< One without marks, whole, of more digits: nothing parts its thousands.

    void add(const MarkEvidence& other);
};

namespace detail {

constexpr bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

/// The length of what may stand between thousands at the front of a text, other than , and .; 0 without.
std::size_t thousands_blank(std::string_view text);

/// Removes a currency sign or a blank that does not break at the front, if there is one of them.
std::string_view take_currency(std::string_view& text);

/// Whether text may be a unit: a short word without digits, blanks and punctuation that numbers and dates have.
bool is_unit(std::string_view text);

/// Takes the digits and marks of a number without its exponent.
bool take_mantissa(std::string_view& text, std::string& digits);

void take_exponent(std::string_view& text, std::string& digits);

}  // namespace detail

namespace detail {

/// Splits a number without brackets.
std::optional<NumberParts> split_plain(std::string_view cell);

}  // namespace detail

/// Splits a cell (without blanks around it) into a number and its unit; nothing where it is something else. In
/// brackets, as accountants write it, a number is negative.
std::optional<NumberParts> split_number(std::string_view cell);

/// What a number's marks tell.
MarkEvidence evidence_of(std::string_view digits);

/// The value of a number whose decimal mark is known; `text` where its thousands are not threes.
Decimal parse_digits(std::string_view digits, DecimalMark mark);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/number_cell.hpp>
#endif
