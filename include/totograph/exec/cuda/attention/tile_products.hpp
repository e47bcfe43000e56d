// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/attention/tile_memory.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

// Products of a warp's sixteen queries and weights with the keys and values of a tile, on tensor cores. A lane is `4
// row + quarter`; it holds a quarter of the dimensions of the queries `row` and `row + 8`, and scores of them.

namespace totograph::cuda::tile_detail {

__device__ __forceinline__ int lane_of_warp() {
    return static_cast<int>(threadIdx.x) % warp_size;
}
__device__ __forceinline__ int row_of_lane() {
    return lane_of_warp() / 4;
}
__device__ __forceinline__ int quarter_of_lane() {
    return lane_of_warp() % 4;
}

/// In bf16: two numbers a register.
template <int head_dim, Precision precision>
struct TileProducts {
    static_assert(precision == Precision::bf16);
    using Memory = Tile<head_dim, BFloat16>;
    static constexpr int steps = head_dim / 16;
    static constexpr int widths = head_dim / 8;
    using Queries = std::uint32_t[2][widths];

    /// Adds the products with the keys from `first` on, eight a group.
    template <int groups>
    static __device__ __forceinline__ void score(float (&scores)[groups][4], const Queries& query, const Memory& tile,
                                                 int first) {
#pragma unroll
        for (int group = 0; group < groups; ++group) {
#pragma unroll
            for (int step = 0; step < steps; step += 2) {
                // Blocks side by side: four times eight dimensions. Of a head of 16, the last two are not used.
                std::uint32_t keys[4];
                const int dimension = min(step * 16 + lane_of_warp() / 8 * 8, head_dim - 8);
                load_blocks(keys, &tile.key[first + group * 8 + lane_of_warp() % 8][dimension]);
#pragma unroll
                for (int i = 0; i < 2 && step + i < steps; ++i) {
                    const auto& low = (step + i) * 2;
                    const std::uint32_t a[4] = {query[0][low], query[1][low], query[0][low + 1], query[1][low + 1]};
                    multiply_bf16(scores[group], a, keys[i * 2], keys[i * 2 + 1]);
                }
            }
        }
    }

    /// Adds the values from `first` on by their weights.
    template <int groups>
    static __device__ __forceinline__ void weigh(float (&sums)[widths][4], const float (&weights)[groups][4],
                                                 const Memory& tile, int first) {
#pragma unroll
        for (int step = 0; step < groups / 2; ++step) {
            const auto& low = weights[step * 2];
            const auto& high = weights[step * 2 + 1];
            const std::uint32_t a[4] = {two_bf16(low[0], low[1]), two_bf16(low[2], low[3]), two_bf16(high[0], high[1]),
                                        two_bf16(high[2], high[3])};
#pragma unroll
            for (int width = 0; width < widths; width += 2) {
                std::uint32_t values[4];
                load_transposed_blocks(
                    values, &tile.value[first + step * 16 + lane_of_warp() % 16][width * 8 + lane_of_warp() / 16 * 8]);
                multiply_bf16(sums[width], a, values[0], values[1]);
                multiply_bf16(sums[width + 1], a, values[2], values[3]);
            }
        }
    }
};

/// A number rounded to tf32, and what rounding left, rounded too: 22 bits of it. Their products, but for that of the
/// two rests, err by less than a sum of products in f32 does.
struct Tf32Parts {
    std::uint32_t large;
    std::uint32_t rest;

    static __device__ __forceinline__ Tf32Parts of(float value) {
        constexpr std::uint32_t infinity = 0x7f800000U;
        const std::uint32_t large = as_tf32(value);
        const bool is_finite = (large & infinity) != infinity;  // else the rest would be NaN
        return {large, is_finite ? as_tf32(value - __uint_as_float(large)) : 0};
    }
};

/// In tf32, and in f32 by three products of tf32 parts.
template <int head_dim, Precision precision>
requires(precision != Precision::bf16) struct TileProducts<head_dim, precision> {
    using Memory = Tile<head_dim, float>;
    static constexpr int steps = head_dim / 8;
    static constexpr int widths = head_dim / 8;
    /// In tf32 they are rounded already.
    using Queries = std::uint32_t[2][widths * 2];

    template <int groups>
    static __device__ __forceinline__ void score(float (&scores)[groups][4], const Queries& query, const Memory& tile,
                                                 int first) {
#pragma unroll
        for (int step = 0; step < steps; ++step) {
            // The order of the dimensions inside an instruction is free: a lane takes two neighbours.
            const Left<precision == Precision::tf32> a(query[0][step * 2], query[1][step * 2], query[0][step * 2 + 1],
                                                       query[1][step * 2 + 1]);
#pragma unroll
            for (int group = 0; group < groups; ++group) {
                const float* from = &tile.key[first + group * 8 + row_of_lane()][step * 8 + quarter_of_lane() * 2];
                a.multiply(scores[group], from[0], from[1]);
            }
        }
    }

    template <int groups>
    static __device__ __forceinline__ void weigh(float (&sums)[widths][4], const float (&weights)[groups][4],
                                                 const Memory& tile, int first) {
#pragma unroll
        for (int step = 0; step < groups; ++step) {
            const auto& own = weights[step];
            const Left<false> a(__float_as_uint(own[0]), __float_as_uint(own[2]), __float_as_uint(own[1]),
                                __float_as_uint(own[3]));
            const int key = first + step * 8 + quarter_of_lane() * 2;
#pragma unroll
            for (int width = 0; width < widths; ++width) {
                a.multiply(sums[width], tile.value[key][width * 8 + row_of_lane()],
                           tile.value[key + 1][width * 8 + row_of_lane()]);
            }
        }
    }

private:
    /// The left side of a product, of f32 numbers that are rounded to tf32 already or not.
    template <bool is_rounded>
    struct Left {
        std::uint32_t large[4];
        std::uint32_t rest[4];

        __device__ __forceinline__ Left(std::uint32_t a0, std::uint32_t a1, std::uint32_t a2, std::uint32_t a3) {
            const std::uint32_t all[4] = {a0, a1, a2, a3};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                if constexpr (is_rounded) {
                    large[i] = all[i];
                } else {
                    const auto parts = Tf32Parts::of(__uint_as_float(all[i]));
                    large[i] = parts.large;
                    rest[i] = parts.rest;
                }
            }
        }

        __device__ __forceinline__ void multiply(float (&sums)[4], float b0, float b1) const {
            if constexpr (precision == Precision::f32) {
                const auto first = Tf32Parts::of(b0);
                const auto second = Tf32Parts::of(b1);
                multiply_tf32(sums, rest, first.large, second.large);
                multiply_tf32(sums, large, first.rest, second.rest);
                multiply_tf32(sums, large, first.large, second.large);
            } else {
                multiply_tf32(sums, large, as_tf32(b0), as_tf32(b1));
            }
        }
    };
};

}  // namespace totograph::cuda::tile_detail
