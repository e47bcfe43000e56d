// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/select.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>

// Which keys of a query a thread has, where a block or several share them, and their loads.

namespace totograph::cuda {

/// How a block shares the keys of a query: a key four lanes, or eight, an equal part of its dimensions each; a few keys
/// at a time, one of them of the suffix where there is one. In turns, the blocks that share a query have runs of the
/// prefix, the first block the first one, and of the suffix, the last block the first one.
template <class K>
struct BlockShare {
    using Key = typename K::Key;
    static constexpr auto key_lanes = static_cast<int>(block_key_lanes(K::kernel, sizeof(Key) == 2));
    static constexpr int width = AttentionSizes<K>::head_dim / key_lanes;  ///< Dimensions of a lane.
    static constexpr int lanes = 16 / static_cast<int>(sizeof(Key));
    static constexpr int packs = width / lanes;
    static constexpr int keys_of_block = block_threads / key_lanes;
    static constexpr bool has_suffix = AttentionSizes<K>::has_suffix;
    /// Keys of the prefix that a thread holds; fewer where three of them would take too many registers.
    static constexpr int of_prefix = has_suffix && packs > 4 ? 1
                                                             : static_cast<int>(AttentionLimits::block_keys_together);
    static constexpr int together = of_prefix + (has_suffix ? 1 : 0);
    static_assert(block_threads == AttentionLimits::block_threads);
    /// Blocks of a cluster that share the keys of a query. Devices without clusters take one.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    static constexpr int parts = 1;
#else
    static constexpr auto parts = static_cast<int>(block_parts_of(K::kernel));
#endif

    /// Which of these blocks this one is.
    static __device__ __forceinline__ int part() {
        return static_cast<int>(blockIdx.x) % parts;
    }
    static __device__ __forceinline__ int first_dimension() {
        return static_cast<int>(threadIdx.x) % key_lanes * width;
    }
    /// The number of the first key of this block's prefix, or suffix, in a turn.
    static __device__ __forceinline__ int first_of_prefix(int turn) {
        return (turn * parts + part()) * of_prefix * keys_of_block;
    }
    static __device__ __forceinline__ int first_of_suffix(int turn) {
        return (turn * parts + parts - 1 - part()) * keys_of_block;
    }
    /// Whether a block has any of `count` keys in a turn, so many of them in the prefix.
    static __device__ __forceinline__ bool has_turn(int turn, int prefix, int count) {
        return first_of_prefix(turn) < prefix || (has_suffix && prefix + first_of_suffix(turn) < count);
    }
    /// The number of this thread's `i`th key in a turn; -1 for none.
    static __device__ __forceinline__ int number_of(int i, int turn, int prefix, int count) {
        const int own = static_cast<int>(threadIdx.x) / key_lanes;
        if (i == of_prefix) {
            const int number = prefix + first_of_suffix(turn) + own;
            return number < count ? number : -1;
        }
        const int number = first_of_prefix(turn) + i * keys_of_block + own;
        return number < prefix ? number : -1;
    }
};

/// Keys and values of a thread on their way.
template <class K>
struct BlockKeys {
    using Share = BlockShare<K>;
    using Packs = StoredPack<typename K::Key, Share::lanes>[Share::packs];
    Packs key[Share::together];
    Packs value[Share::together];

    /// Asks for what lies in the place of a thread's first `end` keys, and their values.
    template <int end, class Rows>
    __device__ __forceinline__ void load_first(const Rows& rows, const QueryPlace& place) {
        constexpr int capacity = key_capacity<K, 1>;
        load<0, end>(key, 0, capacity, capacity, [&](int i) { return rows.key(place, capacity, i); });
        load<0, end>(value, 0, capacity, capacity, [&](int i) { return rows.value(place, capacity, i); });
    }
    /// Asks for the keys of a turn, from the `begin`th of a thread on.
    template <int begin, class Keys>
    __device__ __forceinline__ void load_keys(const Keys& keys, int turn) {
        load<begin, Share::together>(key, turn, keys.prefix, keys.count, keys.key);
    }
    template <int begin, class Keys>
    __device__ __forceinline__ void load_values(const Keys& keys, int turn) {
        load<begin, Share::together>(value, turn, keys.prefix, keys.count, keys.value);
    }

private:
    template <int begin, int end, class Row>
    static __device__ __forceinline__ void load(Packs (&to)[Share::together], int turn, int prefix, int count,
                                                const Row& row) {
#pragma unroll
        for (int i = begin; i < end; ++i) {
            const int number = Share::number_of(i, turn, prefix, count);
            if (number >= 0) {
                const auto* from = row(number) + Share::first_dimension();
#pragma unroll
                for (int pack = 0; pack < Share::packs; ++pack) {
                    to[i][pack] = load_stored<Share::lanes, true>(from + pack * Share::lanes);
                }
            }
        }
    }
};

}  // namespace totograph::cuda
