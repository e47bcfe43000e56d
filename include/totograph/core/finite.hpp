// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include <totograph/core/shape.hpp>

namespace totograph {

/// Whether none of the numbers is NaN or infinite, told by one look at all of them, without a branch in it.
inline bool all_finite(std::span<const float> numbers) noexcept {
    // Of what is not finite all bits of the exponent are set, and one more carries into the sign.
    constexpr std::uint32_t exponent = 0x7f800000U;
    constexpr std::uint32_t lowest = 0x00800000U;
    constexpr std::uint32_t sign = 0x80000000U;
    const auto carried = [first = numbers.data()](Index at) {
        return (std::bit_cast<std::uint32_t>(first[at]) & exponent) + lowest;
    };
    // Four at a time, or each would wait for the one before it; in runs that a compiler turns into vectors at -O2.
    constexpr Index quarter = 32;
    constexpr Index run = 4 * quarter;
    const auto count = static_cast<Index>(numbers.size());
    const Index whole = count - count % run;
    std::uint32_t any = 0;
    for (Index begin = 0; begin < whole; begin += run) {
        for (Index at = begin; at < begin + quarter; ++at) {
            any |= (carried(at) | carried(at + quarter)) | (carried(at + 2 * quarter) | carried(at + 3 * quarter));
        }
    }
    for (Index at = whole; at < count; ++at) {
        any |= carried(at);
    }
    return (any & sign) == 0;
}

}  // namespace totograph
