// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/exec/tf32_tile.hpp>

// How skinny GEMMs multiply in each precision. A lane has some neighbouring elements of k of one column, and the inputs
// that go with them: the order of k inside a tensor core instruction is free, as long as both sides agree. A step is
// what one instruction multiplies.

namespace totograph::cuda::skinny_detail {

template <Precision precision>
struct Arithmetic;

/// Two neighbours as a tensor core takes them.
__device__ __forceinline__ std::uint32_t pair_of(const Pack<float, 8>& pack, int first) {
    return two_bf16(pack.lane[first], pack.lane[first + 1]);
}
__device__ __forceinline__ std::uint32_t pair_of(const Pack<BFloat16, 8>& pack, int first) {
    return static_cast<std::uint32_t>(pack.lane[first].bits) | static_cast<std::uint32_t>(pack.lane[first + 1].bits)
                                                                   << 16U;
}

/// An input as a tensor core takes it, and one that is so already.
__device__ __forceinline__ std::uint32_t for_tensor_cores(float value) {
    return as_tf32(value);
}
__device__ __forceinline__ std::uint32_t for_tensor_cores(std::uint32_t rounded) {
    return rounded;
}

/// Eight weights of a lane as a `Tf32Tile` has them.
struct Tf32Words {
    static constexpr int registers = SkinnyTile::tf32_registers;
    uint4 high;
    std::uint32_t low;
};

template <>
struct Arithmetic<Precision::bf16> {
    using Weight = BFloat16;
    using Words = uint4;
    static constexpr int lane_k = SkinnyTile::k_unit(true);
    static constexpr int steps = 2;
    /// Whether products are added to each other before they are added to the accumulators.
    static constexpr bool adds_apart = false;
    /// Chunks of k up to which two blocks find room on a multiprocessor.
    static constexpr int chunks_of_two_blocks = 16;
    /// Registers that a step takes for a tile of rows besides what it multiplies.
    static constexpr int part_registers = 0;

    /// What a lane keeps of inputs that it multiplies several times.
    using Kept = BFloat16;
    static __device__ __forceinline__ Pack<Kept, lane_k> kept(const Pack<float, lane_k>& input) {
        const std::uint32_t pairs[4] = {pair_of(input, 0), pair_of(input, 2), pair_of(input, 4), pair_of(input, 6)};
        Pack<Kept, lane_k> rounded;
#pragma unroll
        for (int i = 0; i < lane_k; ++i) {
            rounded.lane[i].bits = static_cast<std::uint16_t>(pairs[i / 2] >> (i % 2 * 16));
        }
        return rounded;
    }
    static __device__ __forceinline__ Pack<Kept, lane_k> kept(const Pack<BFloat16, lane_k>& input) {
        return input;
    }

    /// The rows of a step as instructions take them: `low` of one eight of rows, `high` of another.
    /// @tparam has_high  whether there is another one; else zeros are multiplied
    template <bool has_high, class Input>
    struct Rows {
        std::uint32_t part[4];
        __device__ __forceinline__ Rows(const Pack<Input, lane_k>& low, const Pack<Input, lane_k>& high, int step)
            : part{pair_of(low, step * 4), has_high ? pair_of(high, step * 4) : 0U, pair_of(low, step * 4 + 2),
                   has_high ? pair_of(high, step * 4 + 2) : 0U} {}
    };

    /// Adds the products of a step to the accumulators of one instruction.
    template <class Rows>
    static __device__ __forceinline__ void multiply(float (&accumulators)[4], const Rows& rows, const uint4& weights,
                                                    int step) {
        multiply_bf16(accumulators, rows.part, step == 0 ? weights.x : weights.z, step == 0 ? weights.y : weights.w);
    }
};

template <>
struct Arithmetic<Precision::tf32> {
    using Words = Tf32Words;
    static constexpr int lane_k = Tf32Tile::lane_k;
    static constexpr int steps = 4;
    static constexpr bool adds_apart = false;
    static constexpr int chunks_of_two_blocks = 8;
    static constexpr int part_registers = 0;

    using Kept = std::uint32_t;
    static __device__ __forceinline__ Pack<Kept, lane_k> kept(const Pack<float, lane_k>& input) {
        Pack<Kept, lane_k> rounded;
#pragma unroll
        for (int i = 0; i < lane_k; ++i) {
            rounded.lane[i] = for_tensor_cores(input.lane[i]);
        }
        return rounded;
    }

    template <bool has_high, class Input>
    struct Rows {
        std::uint32_t part[4];
        __device__ __forceinline__ Rows(const Pack<Input, lane_k>& low, const Pack<Input, lane_k>& high, int step)
            : part{for_tensor_cores(low.lane[step * 2]), has_high ? for_tensor_cores(high.lane[step * 2]) : 0U,
                   for_tensor_cores(low.lane[step * 2 + 1]),
                   has_high ? for_tensor_cores(high.lane[step * 2 + 1]) : 0U} {}
    };

    template <class Rows>
    static __device__ __forceinline__ void multiply(float (&accumulators)[4], const Rows& rows,
                                                    const Tf32Words& weights, int step) {
        const std::uint32_t high = step == 0   ? weights.high.x
                                   : step == 1 ? weights.high.y
                                   : step == 2 ? weights.high.z
                                               : weights.high.w;
        const std::uint32_t low = step < 2 ? weights.low : weights.low << 4U;
        const auto byte = static_cast<std::uint32_t>(step * 2 % 4);
        multiply_tf32(accumulators, rows.part, number<0>(high, low, byte), number<1>(high, low, byte + 1));
    }

private:
    /// Puts one byte of `low` below half of `high`. Four bits of it belong to another number: tensor cores do not read
    /// them, as they read 19 bits of 32.
    template <std::uint32_t half>
    static __device__ __forceinline__ std::uint32_t number(std::uint32_t high, std::uint32_t low, std::uint32_t byte) {
        constexpr std::uint32_t upper = half == 0 ? 0x1000U : 0x3200U;
        return __byte_perm(high, low, upper | (4 + byte) << 4U | (4 + byte));
    }
};

/// f32 by tensor cores: a product is three of tf32, without that of the two rests. Tensor cores cut off what they add
/// up where others round, so they add the products of a chunk at most. One row is multiplied without tensor cores: to
/// cut numbers into parts takes longer.
template <>
struct Arithmetic<Precision::f32> {
    using Weight = float;
    using Words = uint4;
    static constexpr int lane_k = SkinnyTile::k_unit(false);
    static constexpr int steps = 2;
    static constexpr bool adds_apart = true;
    static constexpr int chunks_of_two_blocks = 16;
    static constexpr int part_registers = 8;

    using Kept = float;
    static __device__ __forceinline__ Pack<Kept, lane_k> kept(const Pack<float, lane_k>& input) { return input; }

    template <bool has_high, class Input>
    struct Rows {
        std::uint32_t large[4];
        std::uint32_t rest[4];
        __device__ __forceinline__ Rows(const Pack<float, lane_k>& low, const Pack<float, lane_k>& high, int step) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const Pack<float, lane_k>& rows = i % 2 == 0 ? low : high;
                const auto parts = Tf32Parts::of(rows.lane[step * 2 + i / 2]);
                large[i] = i % 2 == 0 || has_high ? parts.large : 0U;
                rest[i] = i % 2 == 0 || has_high ? parts.rest : 0U;
            }
        }
    };

    template <class Rows>
    static __device__ __forceinline__ void multiply(float (&accumulators)[4], const Rows& rows, const uint4& weights,
                                                    int step) {
        const Rows rows_of_step[] = {rows};
        const std::uint32_t words[] = {step == 0 ? weights.x : weights.z, step == 0 ? weights.y : weights.w};
        add_products(accumulators, rows_of_step, words);
    }

    /// The same of all steps of a chunk.
    template <class Rows>
    static __device__ __forceinline__ void multiply_chunk(float (&accumulators)[4], const Rows (&rows)[steps],
                                                          const uint4& weights) {
        const std::uint32_t words[] = {weights.x, weights.y, weights.z, weights.w};
        add_products(accumulators, rows, words);
    }

    /// Adds a lane's products of one row and of one column, whose sum is that of all accumulators.
    static __device__ __forceinline__ void multiply_row(float (&accumulators)[4], const Pack<float, lane_k>& row,
                                                        const uint4& weights) {
        const std::uint32_t words[4] = {weights.x, weights.y, weights.z, weights.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            accumulators[i] += row.lane[i] * __uint_as_float(words[i]);
        }
    }

private:
    /// Adds products of some steps, which are added to each other first.
    template <class Rows, int count>
    static __device__ __forceinline__ void add_products(float (&accumulators)[4], const Rows (&rows)[count],
                                                        const std::uint32_t (&words)[2 * count]) {
        Tf32Parts parts[2 * count];
#pragma unroll
        for (int i = 0; i < 2 * count; ++i) {
            parts[i] = Tf32Parts::of(__uint_as_float(words[i]));
        }
        float products[4] = {};
#pragma unroll
        for (int i = 0; i < count; ++i) {
            multiply_tf32(products, rows[i].large, parts[i * 2].rest, parts[i * 2 + 1].rest);
            multiply_tf32(products, rows[i].rest, parts[i * 2].large, parts[i * 2 + 1].large);
        }
#pragma unroll
        for (int i = 0; i < count; ++i) {
            multiply_tf32(products, rows[i].large, parts[i * 2].large, parts[i * 2 + 1].large);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            accumulators[i] += products[i];
        }
    }
};

/// The rows of all steps of a chunk.
template <class Arithmetic, bool has_high, class Input>
struct RowsOfChunk {
    using Rows = typename Arithmetic::template Rows<has_high, Input>;
    using InputPack = Pack<Input, Arithmetic::lane_k>;
    Rows of[Arithmetic::steps];

    __device__ __forceinline__ RowsOfChunk(const InputPack& low, const InputPack& high)
        : RowsOfChunk(low, high, std::make_integer_sequence<int, Arithmetic::steps>()) {}

private:
    template <int... step>
    __device__ __forceinline__ RowsOfChunk(const InputPack& low, const InputPack& high,
                                           std::integer_sequence<int, step...>)
        : of{Rows(low, high, step)...} {}
};

/// Adds the products of a chunk to the accumulators of one instruction.
template <class Arithmetic, class Rows, class Words>
__device__ __forceinline__ void multiply_chunk(float (&accumulators)[4], const Rows (&rows)[Arithmetic::steps],
                                               const Words& weights) {
    if constexpr (Arithmetic::adds_apart) {
        Arithmetic::multiply_chunk(accumulators, rows, weights);
    } else {
#pragma unroll
        for (int step = 0; step < Arithmetic::steps; ++step) {
            Arithmetic::multiply(accumulators, rows[step], weights, step);
        }
    }
}

}  // namespace totograph::cuda::skinny_detail
