// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace totograph::io {

/// What a piece of text turned out to be.
enum class DecimalKind {
    number,      ///< A finite number in the range of float, which is what forecasts are computed in.
    text,        ///< No number.
    infinite,    ///< A spelling of infinity.
    overflowing  ///< A number beyond the range of float.
};

/// The outcome of `parse_decimal`.
struct Decimal {
    DecimalKind kind = DecimalKind::text;
    double value = 0.0;  ///< Meaningful for a number only.
};

namespace detail {

/// For a decimal that double cannot hold: whether it is too large, rather than too small.
bool is_too_large(std::string_view digits);

}  // namespace detail

/// Reads a decimal number, whatever the locale: an optional sign (a leading '+' too), digits, a point, an exponent. The
/// whole text must belong to it. A number too small for double becomes zero.
Decimal parse_decimal(std::string_view text);

/// The shortest decimal that reads back as the same double. Precondition: the value is finite.
std::string format_decimal(double value);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/decimal.hpp>
#endif
