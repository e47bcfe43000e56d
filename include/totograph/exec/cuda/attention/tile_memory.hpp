// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/attention/select.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

// Keys and values of a tile in shared memory, in the order in which tensor cores take them.

namespace totograph::cuda {

inline constexpr int tile_keys = AttentionLimits::tile_keys;

namespace tile_detail {

// Tensor cores want of a row, from lane q of four, the elements 8 n + 2 q and the one after it; memory wants lanes to
// read neighbours, 16 bytes each. The order of the dimensions is free as long as queries, keys, values and results
// agree: a lane has runs of eight (or four) dimensions, and its 2 n + i'th is what tensor cores take for element 8 n +
// 2 q + i.

/// Neighbouring dimensions of a lane.
template <int head_dim>
inline constexpr int run_of_dimensions = head_dim % 32 == 0 ? 8 : 4;

/// Where tensor cores have a dimension.
template <int head_dim>
constexpr int place_of_dimension(int dimension) {
    constexpr int run = run_of_dimensions<head_dim>;
    const int own = dimension / (4 * run) * run + dimension % run;
    return own / 2 * 8 + dimension / run % 4 * 2 + own % 2;
}

/// Stores four neighbouring dimensions of a row, the first a multiple of four.
template <int head_dim, class T>
__device__ __forceinline__ void store_dimensions(T* row, int dimension, const Pack<float, 4>& four) {
    static_assert(head_dim % 16 == 0);
    T* const to = row + place_of_dimension<head_dim>(dimension);
    store_pack<1, true>(to, stored_as<T>(Pack<float, 2>{four.lane[0], four.lane[1]}));
    store_pack<1, true>(to + 8, stored_as<T>(Pack<float, 2>{four.lane[2], four.lane[3]}));
}

struct KeysAndValues {
    Pack<float, 4> keys;
    Pack<float, 4> values;
};

/// A value that is not a finite number becomes 0, and its key NaN: who attends to it gets NaN, and nobody else. A
/// weight of 0 alone would not do: 0 times NaN is NaN.
__device__ __forceinline__ KeysAndValues without_infinite_values(const Pack<float, 4>& keys,
                                                                 const Pack<float, 4>& values) {
    KeysAndValues result{keys, values};
    float zero = 0;
#pragma unroll
    for (const float value : values.lane) {
        zero += value * 0.0F;
    }
    if (zero != 0.0F) {
        result.keys.lane[0] = zero;
        result.values = {};
    }
    return result;
}

/// The same of bf16, which stay as they are: pairs of numbers.
struct PairsOfKeysAndValues {
    StoredPack<BFloat16, 4> keys;
    StoredPack<BFloat16, 4> values;
};
__device__ __forceinline__ PairsOfKeysAndValues without_infinite_values(const StoredPack<BFloat16, 4>& keys,
                                                                        const StoredPack<BFloat16, 4>& values) {
    constexpr std::uint32_t nan = 0x7fc0;
    // Adding one to an exponent of ones alone overflows into the sign, which is cleared before.
    const auto overflows = [](std::uint32_t pair) { return ((pair & 0x7fff7fffU) + 0x00800080U) & 0x80008000U; };
    PairsOfKeysAndValues result{keys, values};
    if ((overflows(values.pair[0]) | overflows(values.pair[1])) != 0) {
        result.keys.pair[0] = (keys.pair[0] & 0xffff0000U) | nan;
        result.values = {};
    }
    return result;
}

/// Stores four neighbouring dimensions of a row of bf16.
template <int head_dim>
__device__ __forceinline__ void store_dimensions(BFloat16* row, int dimension, const StoredPack<BFloat16, 4>& four) {
    auto* const to = reinterpret_cast<std::uint32_t*>(row + place_of_dimension<head_dim>(dimension));
    to[0] = four.pair[0];
    to[4] = four.pair[1];
}

/// Keys and values of one tile in shared memory, as bf16, as f32 rounded to tf32, or as f32. Rows are padded so that
/// the reads of a warp meet no bank twice.
template <int head_dim, Precision precision>
struct Tile {
    using Element = std::conditional_t<precision == Precision::bf16, BFloat16, float>;
    static constexpr bool is_rounded_to_tf32 = precision == Precision::tf32;
    static constexpr int padding = AttentionLimits::tile_row_padding / static_cast<int>(sizeof(Element));
    alignas(16) Element key[tile_keys][head_dim + padding];
    alignas(16) Element value[tile_keys][head_dim + padding];

    /// Dimension `first + own` of a row.
    __device__ __forceinline__ const Element* key_at(int row, int first, int own) const {
        return &key[row][first + own];
    }
    __device__ __forceinline__ const Element* value_at(int row, int first, int own) const {
        return &value[row][first + own];
    }

    template <class Key>
    __device__ __forceinline__ void store(int row, int dimension, const StoredPack<Key, 4>& keys,
                                          const StoredPack<Key, 4>& values) {
        if constexpr (std::is_same_v<Key, Element> && std::is_same_v<Key, BFloat16>) {
            store_both(row, dimension, without_infinite_values(keys, values));
        } else {
            // A finite number may be none when it is rounded to tf32.
            store_both(row, dimension, without_infinite_values(rounded(keys.floats()), rounded(values.floats())));
        }
    }

private:
    template <class Both>
    __device__ __forceinline__ void store_both(int row, int dimension, const Both& both) {
        store_dimensions<head_dim>(key[row], dimension, both.keys);
        store_dimensions<head_dim>(value[row], dimension, both.values);
    }
    /// As tensor cores take it: rounded here once, not by each warp that reads it.
    static __device__ __forceinline__ Pack<float, 4> rounded(Pack<float, 4> four) {
        if constexpr (precision == Precision::tf32) {
#pragma unroll
            for (float& lane : four.lane) {
                lane = __uint_as_float(as_tf32(lane));
            }
        }
        return four;
    }
};

/// The same in f32, as the two parts of each number that tensor cores take.
template <int head_dim>
struct TileOfParts {
    Tile<head_dim, Precision::f32> large;
    Tile<head_dim, Precision::f32> rest;

    template <class Key>
    __device__ __forceinline__ void store(int row, int dimension, const StoredPack<Key, 4>& keys,
                                          const StoredPack<Key, 4>& values) {
        const KeysAndValues both = without_infinite_values(keys.floats(), values.floats());
        store_parts(large.key[row], rest.key[row], dimension, both.keys);
        store_parts(large.value[row], rest.value[row], dimension, both.values);
    }

private:
    static __device__ __forceinline__ void store_parts(float* large_row, float* rest_row, int dimension,
                                                       const Pack<float, 4>& four) {
        Pack<float, 4> large_four;
        Pack<float, 4> rest_four;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const auto parts = Tf32Parts::of(four.lane[i]);
            large_four.lane[i] = __uint_as_float(parts.large);
            rest_four.lane[i] = __uint_as_float(parts.rest);
        }
        store_dimensions<head_dim>(large_row, dimension, large_four);
        store_dimensions<head_dim>(rest_row, dimension, rest_four);
    }
};

}  // namespace tile_detail

}  // namespace totograph::cuda
