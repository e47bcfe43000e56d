// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <totograph/core/shape.hpp>

// Weights that a device multiplies as tf32, in 20 bits each: a number of tf32 has 19, the upper ones of an f32.

namespace totograph {

/// A float rounded to tf32, to the nearest, ties away from zero, as `cvt.rna.tf32.f32` rounds it: an f32 whose 13 lower
/// bits are zero. NaN is NaN.
constexpr std::uint32_t tf32_bits(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return (bits & 0x7fffffffU) > 0x7f800000U ? 0x7fc00000U : (bits + 0x1000U) & 0xffffe000U;
}

/// An f32 that was rounded to tf32. Storage only.
struct Tf32 {
    std::uint32_t bits = 0;
};

/// Rounds as many floats as `to` has room for.
inline void store_elements(const float* from, std::span<Tf32> to) noexcept {
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i].bits = tf32_bits(from[i]);
    }
}

/// Eight columns by 32 neighbours in k, as a warp reads them: eight neighbours of a column are those of one lane, which
/// is `4 column + quarter`.
struct Tf32Tile {
    static constexpr Index columns = 8;
    static constexpr Index lane_k = 8;
    static constexpr Index k = 4 * lane_k;
    static constexpr std::size_t lanes = 32;

    /// The upper 16 bits of each.
    std::uint16_t high[lanes][lane_k];
    /// The four bits below: byte i has those of neighbour i above those of neighbour i + 4.
    std::uint32_t low[lanes];

    /// Tiles behind each other that have all of k of eight columns; what lies beyond its end is zero.
    static constexpr Index tiles_of(Index all_k) { return divide_rounding_up(all_k, k); }
    /// Bytes of `n` columns, of which there are a multiple of eight.
    static constexpr std::size_t bytes_of(Index n, Index all_k) {
        return static_cast<std::size_t>(n / columns * tiles_of(all_k)) * sizeof(Tf32Tile);
    }

    /// The bits of a weight, as f32.
    [[nodiscard]] constexpr std::uint32_t bits(std::size_t lane, std::size_t neighbour) const noexcept {
        const std::size_t shift = neighbour % 4 * 8 + (neighbour < 4 ? 4 : 0);
        return static_cast<std::uint32_t>(high[lane][neighbour]) << 16U | (low[lane] >> shift & 0xfU) << 12U;
    }

    /// Stores weights of eight columns from `first` on in k.
    /// @param rows  of weights, one a column, of `all_k` elements each
    constexpr void store(const float* rows, Index first, Index all_k) noexcept {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const float* const row = rows + static_cast<Index>(lane / 4) * all_k;
            low[lane] = 0;
            for (std::size_t i = 0; i < lane_k; ++i) {
                const Index at = first + static_cast<Index>(lane % 4 * lane_k + i);
                const std::uint32_t rounded = at < all_k ? tf32_bits(row[at]) : 0U;
                high[lane][i] = static_cast<std::uint16_t>(rounded >> 16U);
                low[lane] |= (rounded >> 12U & 0xfU) << (i % 4 * 8 + (i < 4 ? 4 : 0));
            }
        }
    }
};
static_assert(sizeof(Tf32Tile) == 640);

/// Bytes of a GEMM's weights `[n, k]` in such tiles, or of a pair of them, one after the other.
constexpr std::size_t tf32_tiles_bytes(const Shape& shape, bool is_pair) {
    return Tf32Tile::bytes_of(shape.size() / shape[-1], shape[-1]) * (is_pair ? 2 : 1);
}

}  // namespace totograph
