// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include <totograph/core/runs.hpp>
#include <totograph/core/shape.hpp>

namespace totograph {

/// Whether none of the numbers is NaN or infinite, told by one look at all of them, without a branch in it.
inline bool all_finite(std::span<const float> numbers) noexcept {
    // Of what is not finite all bits of the exponent are set, and one more carries into the sign.
    constexpr std::uint32_t exponent = 0x7f800000U;
    constexpr std::uint32_t lowest = 0x00800000U;
    constexpr std::uint32_t sign = 0x80000000U;
    const float* const first = numbers.data();
    std::uint32_t any = 0;
    for_each_in_runs(static_cast<Index>(numbers.size()),
                     [&any, first](Index at) { any |= (std::bit_cast<std::uint32_t>(first[at]) & exponent) + lowest; });
    return (any & sign) == 0;
}

}  // namespace totograph
