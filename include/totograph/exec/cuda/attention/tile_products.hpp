// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/attention/staged_rows.hpp>
#include <totograph/exec/cuda/attention/tile_memory.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

// Products of a warp's sixteen queries and weights with keys and values in shared memory, on tensor cores. A lane is `4
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

/// Sixteen queries in bf16 in registers, two numbers each: of each half, a quarter of the dimensions.
template <int head_dim>
struct QueryRegisters {
    std::uint32_t of[2][head_dim / 8];

    /// What tensor cores take for sixteen dimensions.
    __device__ __forceinline__ void load(std::uint32_t (&a)[4], int step) const {
        const int low = step * 2;
        a[0] = of[0][low];
        a[1] = of[1][low];
        a[2] = of[0][low + 1];
        a[3] = of[1][low + 1];
    }
};

/// The same queries in shared memory: of wide heads, registers would not hold them beside the results.
template <int head_dim>
struct QueryRows {
    using Rows = StagedMatrix<head_dim, BFloat16, true>;
    const Rows* rows;

    __device__ __forceinline__ void load(std::uint32_t (&a)[4], int step) const {
        load_blocks(a, rows->at(lane_of_warp() % 16, step * 16, lane_of_warp() / 16 * 8));
    }
};

/// How a warp holds its queries: in f32 and tf32 a number a register, in tf32 rounded already.
template <int head_dim, Precision precision>
struct QueriesOf {
    using type = std::uint32_t[2][head_dim / 4];
};
template <int head_dim>
struct QueriesOf<head_dim, Precision::bf16> {
    using type =
        std::conditional_t<(head_dim > AttentionLimits::most_head_dim), QueryRows<head_dim>, QueryRegisters<head_dim>>;
};

/// In bf16: two numbers a register. `Memory` is a tile, or rows as they lie in memory, in bf16 or f32.
template <int head_dim, Precision precision>
struct TileProducts {
    static_assert(precision == Precision::bf16);
    static constexpr int steps = head_dim / 16;
    static constexpr int widths = head_dim / 8;

    /// Adds the products with the first keys, eight a group.
    template <int groups, class Queries, class Memory>
    static __device__ __forceinline__ void score(float (&scores)[groups][4], const Queries& query,
                                                 const Memory& memory) {
        // Several groups side by side: an instruction that adds to what the one before it added to would wait for it.
        constexpr int together = std::min(groups, 4);
        static_assert(groups % together == 0);
#pragma unroll
        for (int first = 0; first < groups; first += together) {
#pragma unroll
            for (int step = 0; step < steps; step += 2) {
                std::uint32_t keys[together][4];
#pragma unroll
                for (int group = 0; group < together; ++group) {
                    load_keys(keys[group], memory, (first + group) * 8, step);
                }
#pragma unroll
                for (int i = 0; i < 2 && step + i < steps; ++i) {
                    std::uint32_t a[4];
                    query.load(a, step + i);
#pragma unroll
                    for (int group = 0; group < together; ++group) {
                        multiply_bf16(scores[first + group], a, keys[group][i * 2], keys[group][i * 2 + 1]);
                    }
                }
            }
        }
    }

    /// Adds the first values by their weights.
    template <int groups, class Memory>
    static __device__ __forceinline__ void weigh(float (&sums)[widths][4], const float (&weights)[groups][4],
                                                 const Memory& memory) {
#pragma unroll
        for (int step = 0; step < groups / 2; ++step) {
            const auto& low = weights[step * 2];
            const auto& high = weights[step * 2 + 1];
            const std::uint32_t a[4] = {two_bf16(low[0], low[1]), two_bf16(low[2], low[3]), two_bf16(high[0], high[1]),
                                        two_bf16(high[2], high[3])};
#pragma unroll
            for (int width = 0; width < widths; width += 2) {
                std::uint32_t values[4];
                load_values(values, memory, step * 16, width);
                multiply_bf16(sums[width], a, values[0], values[1]);
                multiply_bf16(sums[width + 1], a, values[2], values[3]);
            }
        }
    }

private:
    template <class Memory>
    static constexpr bool holds_bf16 =
        std::is_same_v<decltype(std::declval<const Memory&>().key_at(0, 0, 0)), const BFloat16*>;

    /// Of eight keys, the dimensions of two steps. Of a head of 16, the last two registers are not used.
    template <class Memory>
    static __device__ __forceinline__ void load_keys(std::uint32_t (&keys)[4], const Memory& memory, int first,
                                                     int step) {
        if constexpr (holds_bf16<Memory>) {
            // Blocks side by side: four times eight dimensions.
            const int own = lane_of_warp() / 8 * 8;
            load_blocks(keys, memory.key_at(first + lane_of_warp() % 8, step * 16,
                                            head_dim % 32 == 0 ? own : min(own, head_dim - 8 - step * 16)));
        } else {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int dimension = min(step * 16 + i * 8, head_dim - 8);
                const float* pair = memory.key_at(first + row_of_lane(), dimension, quarter_of_lane() * 2);
                keys[i] = two_bf16(pair[0], pair[1]);
            }
        }
    }

    /// Of sixteen values, sixteen dimensions.
    template <class Memory>
    static __device__ __forceinline__ void load_values(std::uint32_t (&values)[4], const Memory& memory, int first,
                                                       int width) {
        if constexpr (holds_bf16<Memory>) {
            load_transposed_blocks(values,
                                   memory.value_at(first + lane_of_warp() % 16, width * 8, lane_of_warp() / 16 * 8));
        } else {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int row = first + i % 2 * 8 + quarter_of_lane() * 2;
                const int dimension = (width + i / 2) * 8;
                values[i] = two_bf16(*memory.value_at(row, dimension, row_of_lane()),
                                     *memory.value_at(row + 1, dimension, row_of_lane()));
            }
        }
    }
};

/// In tf32, and in f32 by three products of tf32 parts.
template <int head_dim, Precision precision>
requires(precision != Precision::bf16) struct TileProducts<head_dim, precision> {
    static constexpr int steps = head_dim / 8;
    static constexpr int widths = head_dim / 8;
    using Queries = typename QueriesOf<head_dim, precision>::type;

    /// `Memory` is a tile, one of parts, or rows as they lie in memory.
    template <int groups, class Memory>
    static __device__ __forceinline__ void score(float (&scores)[groups][4], const Queries& query,
                                                 const Memory& memory) {
#pragma unroll
        for (int step = 0; step < steps; ++step) {
            // The order of the dimensions inside an instruction is free: a lane takes two neighbours.
            const Left<precision == Precision::tf32> a(query[0][step * 2], query[1][step * 2], query[0][step * 2 + 1],
                                                       query[1][step * 2 + 1]);
            Right keys[groups];
#pragma unroll
            for (int group = 0; group < groups; ++group) {
                const int row = group * 8 + row_of_lane();
                const int own = quarter_of_lane() * 2;
                keys[group] =
                    Right(memory, [&](const auto& part) { return neighbours(part.key_at(row, step * 8, own)); });
            }
            multiply(scores, a, keys);
        }
    }

    template <int groups, class Memory>
    static __device__ __forceinline__ void weigh(float (&sums)[widths][4], const float (&weights)[groups][4],
                                                 const Memory& memory) {
#pragma unroll
        for (int step = 0; step < groups; ++step) {
            const auto& own = weights[step];
            const Left<false> a(__float_as_uint(own[0]), __float_as_uint(own[2]), __float_as_uint(own[1]),
                                __float_as_uint(own[3]));
            const int key = step * 8 + quarter_of_lane() * 2;
            Right values[widths];
#pragma unroll
            for (int width = 0; width < widths; ++width) {
                values[width] = Right(memory, [&](const auto& part) {
                    return float2{static_cast<float>(*part.value_at(key, width * 8, row_of_lane())),
                                  static_cast<float>(*part.value_at(key + 1, width * 8, row_of_lane()))};
                });
            }
            multiply(sums, a, values);
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
                } else if constexpr (precision == Precision::tf32) {
                    large[i] = as_tf32(__uint_as_float(all[i]));
                } else {
                    const auto parts = Tf32Parts::of(__uint_as_float(all[i]));
                    large[i] = parts.large;
                    rest[i] = parts.rest;
                }
            }
        }
    };

    /// Two neighbours in shared memory, the first at a multiple of two.
    template <class T>
    static __device__ __forceinline__ float2 neighbours(const T* first) {
        if constexpr (std::is_same_v<T, float>) {
            return *reinterpret_cast<const float2*>(first);
        } else {
            return {static_cast<float>(first[0]), static_cast<float>(first[1])};
        }
    }

    /// The right side: two numbers in shared memory, `at(memory)`.
    struct Right {
        std::uint32_t large[2];
        std::uint32_t rest[2];

        Right() = default;
        template <class Memory, class At>
        __device__ __forceinline__ Right(const Memory& memory, At&& at) {
            if constexpr (std::is_same_v<Memory, TileOfParts<head_dim>>) {
                set(large, at(memory.large));
                set(rest, at(memory.rest));
            } else if constexpr (precision == Precision::f32) {
                const float2 numbers = at(memory);
                const auto first = Tf32Parts::of(numbers.x);
                const auto second = Tf32Parts::of(numbers.y);
                large[0] = first.large;
                large[1] = second.large;
                rest[0] = first.rest;
                rest[1] = second.rest;
            } else if constexpr (requires { requires Memory::is_rounded_to_tf32; }) {
                set(large, at(memory));
            } else {
                const float2 numbers = at(memory);
                large[0] = as_tf32(numbers.x);
                large[1] = as_tf32(numbers.y);
            }
        }

    private:
        static __device__ __forceinline__ void set(std::uint32_t (&to)[2], float2 numbers) {
            to[0] = __float_as_uint(numbers.x);
            to[1] = __float_as_uint(numbers.y);
        }
    };

    /// Adds the products of one left side with several right sides. Of f32 all first parts come before all second ones:
    /// an instruction that adds to what the one before it added to would wait for it.
    template <class LeftSide, int count>
    static __device__ __forceinline__ void multiply(float (&sums)[count][4], const LeftSide& a,
                                                    const Right (&b)[count]) {
        if constexpr (precision == Precision::f32) {
#pragma unroll
            for (int i = 0; i < count; ++i) {
                multiply_tf32(sums[i], a.rest, b[i].large[0], b[i].large[1]);
            }
#pragma unroll
            for (int i = 0; i < count; ++i) {
                multiply_tf32(sums[i], a.large, b[i].rest[0], b[i].rest[1]);
            }
        }
#pragma unroll
        for (int i = 0; i < count; ++i) {
            multiply_tf32(sums[i], a.large, b[i].large[0], b[i].large[1]);
        }
    }
};

}  // namespace totograph::cuda::tile_detail
