// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <totograph/core/dtype.hpp>

namespace totograph {

/// Copies as many floats as `to` has room for.
inline void store_elements(const float* from, std::span<float> to) noexcept {
    std::copy_n(from, to.size(), to.data());
}

/// Rounds as many floats as `to` has room for, each as `BFloat16(value)` does.
inline void store_elements(const float* from, std::span<BFloat16> to) noexcept {
    // Without branches, in loops of constant length, which compilers turn into vectors.
    constexpr std::size_t block = 64;
    const auto bits_of = [](float value) {
        const auto wide = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t is_nan = (wide & 0x7fffffffU) > 0x7f800000U ? 0xffffffffU : 0U;
        const std::uint32_t rounded = (wide + 0x7fffU + ((wide >> 16U) & 1U)) >> 16U;
        return static_cast<std::uint16_t>((is_nan & ((wide >> 16U) | 0x0040U)) | (~is_nan & rounded));
    };
    std::size_t at = 0;
    for (; at + block <= to.size(); at += block) {
        for (std::size_t i = 0; i < block; ++i) {
            to[at + i].bits = bits_of(from[at + i]);
        }
    }
    for (; at < to.size(); ++at) {
        to[at].bits = bits_of(from[at]);
    }
}

}  // namespace totograph
