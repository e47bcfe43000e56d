// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/cache/block_checksum.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <totograph/core/inline.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::uint64_t fast_checksum(std::span<const std::byte> bytes) noexcept {
    constexpr std::uint64_t factor = 0x9fb21c651e98df25U;  // odd, so that no step loses anything
    constexpr std::size_t stripe = 4 * sizeof(std::uint64_t);
    const auto add = [](std::uint64_t& sum, const std::byte* from) {
        std::uint64_t word = 0;
        std::memcpy(&word, from, sizeof word);
        sum = std::rotl(sum ^ word, 29) * factor;
    };
    // Four sums side by side: each waits for its own multiplication alone.
    std::array<std::uint64_t, 4> sums{1, 2, 3, 4};
    const auto add_stripe = [&](const std::byte* from) {
        add(sums[0], from);
        add(sums[1], from + 8);
        add(sums[2], from + 16);
        add(sums[3], from + 24);
    };
    std::size_t at = 0;
    for (; at + stripe <= bytes.size(); at += stripe) {
        add_stripe(bytes.data() + at);
    }
    if (at < bytes.size()) {
        std::array<std::byte, stripe> last{};
        std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), last.begin());
        add_stripe(last.data());
    }
    std::uint64_t sum = bytes.size();
    for (const std::uint64_t lane : sums) {
        sum = std::rotl(sum ^ lane, 29) * factor;
        sum ^= sum >> 32U;
    }
    return sum;
}

}  // namespace totograph::io
