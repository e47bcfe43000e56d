// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace totograph::io {

/// A checksum against accidents, not against an adversary, at the speed of memory. Any one 8-byte word that differs
/// changes it. It depends on the byte order of the machine.
std::uint64_t fast_checksum(std::span<const std::byte> bytes) noexcept;

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

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/cache/impl/block_checksum.hpp>
#endif
