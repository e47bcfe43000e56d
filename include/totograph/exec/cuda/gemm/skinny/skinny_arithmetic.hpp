// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

/// Eight weights of a lane as a `Tf32Tile` has them.
struct Tf32Words {
    uint4 high;
    std::uint32_t low;
};

template <>
struct Arithmetic<Precision::bf16> {
    using Weight = BFloat16;
    using Words = uint4;
    static constexpr int lane_k = SkinnyTile::k_unit(true);
    static constexpr int steps = 2;
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
    static constexpr int chunks_of_two_blocks = 8;
    static constexpr int part_registers = 0;

    using Kept = float;
    static __device__ __forceinline__ Pack<Kept, lane_k> kept(const Pack<float, lane_k>& input) { return input; }

    template <bool has_high, class Input>
    struct Rows {
        std::uint32_t part[4];
        __device__ __forceinline__ Rows(const Pack<float, lane_k>& low, const Pack<float, lane_k>& high, int step)
            : part{as_tf32(low.lane[step * 2]), has_high ? as_tf32(high.lane[step * 2]) : 0U,
                   as_tf32(low.lane[step * 2 + 1]), has_high ? as_tf32(high.lane[step * 2 + 1]) : 0U} {}
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

/// A number as two of tf32, which together have 22 of its 24 bits.
struct TwoTf32 {
    std::uint32_t high, low;
};
__device__ __forceinline__ TwoTf32 two_tf32(float value) {
    const std::uint32_t high = as_tf32(value);
    return {high, as_tf32(value - __uint_as_float(high))};
}

/// f32 by tensor cores: a product is three of tf32, without that of the two lower halves. Tensor cores cut off what
/// they add up where others round, so they add the products of a step alone.
template <>
struct Arithmetic<Precision::f32> {
    using Weight = float;
    using Words = uint4;
    static constexpr int lane_k = SkinnyTile::k_unit(false);
    static constexpr int steps = 2;
    static constexpr int chunks_of_two_blocks = 16;
    static constexpr int part_registers = 8;

    using Kept = float;
    static __device__ __forceinline__ Pack<Kept, lane_k> kept(const Pack<float, lane_k>& input) { return input; }

    template <bool has_high, class Input>
    struct Rows {
        std::uint32_t high[4];
        std::uint32_t low[4];
        __device__ __forceinline__ Rows(const Pack<float, lane_k>& first, const Pack<float, lane_k>& second, int step) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const Pack<float, lane_k>& rows = i % 2 == 0 ? first : second;
                const TwoTf32 two = two_tf32(rows.lane[step * 2 + i / 2]);
                high[i] = i % 2 == 0 || has_high ? two.high : 0U;
                low[i] = i % 2 == 0 || has_high ? two.low : 0U;
            }
        }
    };

    template <class Rows>
    static __device__ __forceinline__ void multiply(float (&accumulators)[4], const Rows& rows, const uint4& weights,
                                                    int step) {
        const TwoTf32 first = two_tf32(__uint_as_float(step == 0 ? weights.x : weights.z));
        const TwoTf32 second = two_tf32(__uint_as_float(step == 0 ? weights.y : weights.w));
        float products[4] = {};
        multiply_tf32(products, rows.high, first.low, second.low);
        multiply_tf32(products, rows.low, first.high, second.high);
        multiply_tf32(products, rows.high, first.high, second.high);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            accumulators[i] += products[i];
        }
    }
};

}  // namespace totograph::cuda::skinny_detail
