// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace totograph::io {

/// A checksum against accidents, not against an adversary, at the speed of memory. Any one 8-byte word that differs
/// changes it. It depends on the byte order of the machine.
inline std::uint64_t fast_checksum(std::span<const std::byte> bytes) noexcept {
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

/// The checksum of a large block: of the checksums of its parts, which `for_each(parts, function)` may compute at the
/// same time. `function(part)` never throws.
template <class ForEach>
std::uint64_t block_checksum(std::span<const std::byte> bytes, ForEach&& for_each) {
    constexpr std::size_t part_bytes = std::size_t{1} << 18U;
    std::vector<std::uint64_t> sums((bytes.size() + part_bytes - 1) / part_bytes);
    for_each(sums.size(), [&](std::size_t part) noexcept {
        const std::size_t first = part * part_bytes;
        sums[part] = fast_checksum(bytes.subspan(first, std::min(part_bytes, bytes.size() - first)));
    });
    return fast_checksum(std::as_bytes(std::span(sums)));
}

}  // namespace totograph::io
