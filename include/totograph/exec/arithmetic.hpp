// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include <totograph/core/host_device.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>

// The arithmetic of elementwise ops, once for all executors: on single numbers (`double`, `float`, `std::int32_t`, on
// either device) and on whatever has the same functions, as the packets of `exec/cpu/vector.hpp` do.

namespace totograph {
namespace arithmetic_detail {

template <class T>
concept Number = std::is_arithmetic_v<T>;

// What <cmath> lacks, or has otherwise, for single numbers.

/// The larger; NaN where one of them is.
template <Number T>
TOTOGRAPH_HOST_DEVICE constexpr T max(T a, T b) {
    return a > b || a != a ? a : b;  // NOLINT(misc-redundant-expression): NaN is not itself
}
/// The smaller; NaN where one of them is.
template <Number T>
TOTOGRAPH_HOST_DEVICE constexpr T min(T a, T b) {
    return a < b || a != a ? a : b;  // NOLINT(misc-redundant-expression): NaN is not itself
}
template <Number T>
TOTOGRAPH_HOST_DEVICE constexpr T less(T a, T b) {
    return a < b ? T(1) : T(0);
}
template <Number T>
TOTOGRAPH_HOST_DEVICE constexpr T equal(T a, T b) {
    return a == b ? T(1) : T(0);
}
template <Number T>
TOTOGRAPH_HOST_DEVICE constexpr T where(T condition, T yes, T no) {
    return condition != T(0) ? yes : no;
}

/// a / b. Of integers the quotient towards zero, as in C++ and as a cast of the real quotient: with no value in its
/// type it is the nearest one, and 0 / 0 is 0.
template <class T>
TOTOGRAPH_HOST_DEVICE constexpr T quotient(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>) {
        using Limits = std::numeric_limits<T>;
        if (b == T(0)) {
            return a > T(0) ? Limits::max() : a < T(0) ? Limits::min() : T(0);
        }
        if (b == T(-1)) {  // the least integer has no opposite, and some processors trap
            return a == Limits::min() ? Limits::max() : -a;
        }
    }
    return a / b;
}

/// A constant as a number, or in each of several.
template <class T>
TOTOGRAPH_HOST_DEVICE constexpr T constant(double value) {
    if constexpr (Number<T>) {
        return static_cast<T>(value);
    } else {
        return T(static_cast<float>(value));
    }
}

/// The power in `gelu(x) = x / (1 + exp(power))`: `-2 u`, with `u = sqrt(2 / pi) (x + 0.044715 x^3)`. That is
/// `x (1 + tanh(u)) / 2`, and keeps its digits where tanh(u) is near -1.
template <class T>
TOTOGRAPH_HOST_DEVICE inline T gelu_power(const T& x) {
    constexpr double two_roots = 1.5957691216057308;  // 2 sqrt(2 / pi)
    return -x * (constant<T>(two_roots) + constant<T>(two_roots * 0.044715) * x * x);
}

/// Whether an op has arithmetic of its own here.
template <Op op>
inline constexpr bool is_missing = false;

/// The functions of `cmath` lie beside those above, and those of other types are found with their arguments.
template <Op op, class T>
TOTOGRAPH_HOST_DEVICE inline auto apply(const T& a, [[maybe_unused]] const T& b, [[maybe_unused]] const T& c) {
    using std::abs, std::floor, std::exp, std::log, std::sin, std::cos, std::sqrt, std::tanh, std::sinh, std::asinh,
        std::erf, std::log1p;
    if constexpr (op == Op::add) {
        return a + b;
    } else if constexpr (op == Op::subtract) {
        return a - b;
    } else if constexpr (op == Op::multiply) {
        return a * b;
    } else if constexpr (op == Op::divide) {
        return quotient(a, b);
    } else if constexpr (op == Op::maximum) {
        return max(a, b);
    } else if constexpr (op == Op::minimum) {
        return min(a, b);
    } else if constexpr (op == Op::negative) {
        return -a;
    } else if constexpr (op == Op::abs) {
        return abs(a);
    } else if constexpr (op == Op::floor) {
        return floor(a);
    } else if constexpr (op == Op::exp) {
        return exp(a);
    } else if constexpr (op == Op::log) {
        return log(a);
    } else if constexpr (op == Op::sin) {
        return sin(a);
    } else if constexpr (op == Op::cos) {
        return cos(a);
    } else if constexpr (op == Op::sqrt) {
        return sqrt(a);
    } else if constexpr (op == Op::rsqrt) {
        return T(1) / sqrt(a);
    } else if constexpr (op == Op::sigmoid) {
        return T(1) / (T(1) + exp(-a));
    } else if constexpr (op == Op::silu) {
        return a / (T(1) + exp(-a));
    } else if constexpr (op == Op::softplus) {
        return max(a, T(0)) + log1p(exp(-abs(a)));  // without overflow
    } else if constexpr (op == Op::tanh) {
        return tanh(a);
    } else if constexpr (op == Op::sinh) {
        return sinh(a);
    } else if constexpr (op == Op::asinh) {
        return asinh(a);
    } else if constexpr (op == Op::erf) {
        return erf(a);
    } else if constexpr (op == Op::gelu) {
        return a / (T(1) + exp(gelu_power(a)));
    } else if constexpr (op == Op::less) {
        return less(a, b);
    } else if constexpr (op == Op::equal) {
        return equal(a, b);
    } else if constexpr (op == Op::where) {
        return where(a, b, c);
    } else {
        static_assert(is_missing<op>, "totograph: an elementwise op has no arithmetic; add it to `arithmetic.hpp`.");
        return a;
    }
}

}  // namespace arithmetic_detail

/// Whether an elementwise op maps numbers to numbers. The others look at neighbours, change the type, or are the
/// user's, and each executor has its own way with them.
constexpr bool is_arithmetic(Op op) {
    return is_elementwise(op) && op != Op::cast && op != Op::rotate_pairs && op != Op::custom_elementwise;
}

/// One elementwise op. Of its arguments it reads as many as the op has.
template <Op op, class T>
TOTOGRAPH_HOST_DEVICE inline T elementwise(const T& a, const T& b, const T& c) {
    return static_cast<T>(arithmetic_detail::apply<op>(a, b, c));
}

}  // namespace totograph
