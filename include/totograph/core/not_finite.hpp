// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include <totograph/core/exact_math.hpp>
#include <totograph/core/host_device.hpp>

namespace totograph {

/// How a result tells where there is no finite number.
enum class NotFinite : std::uint8_t {
    by_value,  ///< NaN and infinities stand where they are.
    by_mark,   ///< -0 stands in their place, and nowhere else (`nn::mark_extreme_values`).
};

/// Whether a value of a result stands for no finite number. Looks at bits: no compiler can assume them away.
TOTOGRAPH_HOST_DEVICE constexpr bool is_not_finite(float value, NotFinite told) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    constexpr std::uint32_t exponent = 0x7f800000U;  // all of its bits are set in NaN and infinities
    constexpr std::uint32_t minus_zero = 0x80000000U;
    return told == NotFinite::by_mark ? bits == minus_zero : (bits & exponent) == exponent;
}

/// A value of a result as callers get it: 0 in place of a mark.
TOTOGRAPH_HOST_DEVICE constexpr float without_mark(float value, NotFinite told) noexcept {
    return told == NotFinite::by_mark ? value + 0.0F : value;
}

}  // namespace totograph
