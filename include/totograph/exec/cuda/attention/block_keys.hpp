// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/cache_rows.hpp>
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
    /// Keys of the prefix, or of the suffix, at most.
    static constexpr auto most_keys = static_cast<int>(most_keys_of_part(K::kernel));
    /// Keys of the prefix that a thread holds; fewer where there are no more, and where three of them would take too
    /// many registers.
    static constexpr int of_prefix = most_keys <= keys_of_block || (has_suffix && packs > 4)
                                         ? 1
                                         : static_cast<int>(AttentionLimits::block_keys_together);
    static constexpr int together = of_prefix + (has_suffix ? 1 : 0);
    static_assert(block_threads == AttentionLimits::block_threads);
    /// Blocks of a cluster that share the keys of a query. Devices without clusters take one.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    static constexpr int parts = 1;
#else
    static constexpr auto parts = static_cast<int>(block_parts_of(K::kernel));
#endif

    /// Whether a block takes all keys that there can be at once.
    static constexpr bool takes_one_turn =
        most_keys <= parts * of_prefix * keys_of_block && (!has_suffix || most_keys <= parts * keys_of_block);

    /// Warps that may have keys, the first ones.
    static constexpr int warps_of_block = block_threads / warp_size;
    static constexpr int warps = parts > 1
                                     ? warps_of_block
                                     : std::min(warps_of_block, (most_keys * key_lanes + warp_size - 1) / warp_size);
    static __device__ __forceinline__ bool warp_has_keys() {
        return warps == warps_of_block || static_cast<int>(threadIdx.x) < warps * warp_size;
    }

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
        return (!takes_one_turn || turn == 0) &&
               (first_of_prefix(turn) < prefix || (has_suffix && prefix + first_of_suffix(turn) < count));
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

/// Whether a block asks for what lies in the place of its first keys, and for the mask's entries of these, before it
/// knows how many there are. Beside a suffix only where it does so while the launch before it still runs
/// (`bench_cuda_toto2`, `block_decode_22m`: else 0.343 ms on the device for 0.338).
template <class K>
constexpr bool loads_first_keys() {
    using S = AttentionSizes<K>;
    return K::prefix_is_early || (!S::is_over_variates && !S::has_suffix);
}

/// Keys and values of a thread on their way, and the mask's entry of each.
template <class K>
class BlockKeys {
    using S = AttentionSizes<K>;
    using Share = BlockShare<K>;
    static constexpr bool loads_entries = loads_first_keys<K>();

public:
    using Packs = StoredPack<typename K::Key, Share::lanes>[Share::packs];
    Packs key[Share::together];
    Packs value[Share::together];

    /// Asks for what lies in the place of a thread's first keys of the prefix, however many there are.
    template <class Rows>
    __device__ __forceinline__ void load_first(const Rows& rows, const std::int32_t* ids, const QueryPlace& place) {
        constexpr int capacity = key_capacity<K, 1>;
        constexpr bool sees_no_later = S::attention.is_causal && S::attention.queries == QueryPlaces::first;
        const int reach = sees_no_later ? min(place.position + 1, capacity) : capacity;
        for_each<0, Share::of_prefix>(0, reach, reach, [&](int i, int number) {
            load(key[i], rows.key(place, capacity, number));
            load(value[i], rows.value(place, capacity, number));
            entries_[i] = mask_entry<K>(ids, place, place.variate, number);
        });
    }
    /// Asks for the keys of a turn, from the `begin`th of a thread on.
    template <int begin, class Keys>
    __device__ __forceinline__ void load_keys(const Keys& keys, int turn) {
        for_each<begin, Share::together>(turn, keys.prefix, keys.count, [&](int i, int number) {
            load(key[i], keys.key(number));
            if constexpr (loads_entries) {
                entries_[i] = keys.entry(number);
            }
        });
    }
    template <int begin, class Keys>
    __device__ __forceinline__ void load_values(const Keys& keys, int turn) {
        for_each<begin, Share::together>(turn, keys.prefix, keys.count,
                                         [&](int i, int number) { load(value[i], keys.value(number)); });
    }

    /// Whether a thread's `i`th key of a turn, which is there, counts.
    template <class Keys>
    [[nodiscard]] __device__ __forceinline__ bool counts(const Keys& keys, int i, int number) const {
        if constexpr (loads_entries) {
            return keys.counts(entries_[i]);
        } else {
            return keys.counts(keys.entry(number));
        }
    }

private:
    /// Calls `visit(i, number)` for the keys of a thread in a turn, from its `begin`th to the one before `end`.
    template <int begin, int end, class Visit>
    static __device__ __forceinline__ void for_each(int turn, int prefix, int count, const Visit& visit) {
#pragma unroll
        for (int i = begin; i < end; ++i) {
            const int number = Share::number_of(i, turn, prefix, count);
            if (number >= 0) {
                visit(i, number);
            }
        }
    }
    static __device__ __forceinline__ void load(Packs& to, const typename K::Key* row) {
#pragma unroll
        for (int pack = 0; pack < Share::packs; ++pack) {
            to[pack] = load_stored<Share::lanes, true>(row + Share::first_dimension() + pack * Share::lanes);
        }
    }

    std::int32_t entries_[Share::together];
};

}  // namespace totograph::cuda
