// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/attention_tile.hpp>
#include <totograph/exec/cuda/attention/tile_place.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>

// Keys and values on their way to shared memory, through registers.

namespace totograph::cuda::tile_detail {

/// A tile of keys and values, a few elements a thread.
template <class K>
class TileLoader {
    using Key = typename K::Key;
    static constexpr int packs = AttentionSizes<K>::head_dim / 4;
    static constexpr int items = (tile_keys * packs + threads_of_block<K> - 1) / threads_of_block<K>;

public:
    /// Asks for keys and values from number `first` on; `capacity` of them lie in memory.
    template <int capacity, class KeyRows, class ValueRows>
    __device__ __forceinline__ void load(int first, const KeyRows& key_row, const ValueRows& value_row) {
#pragma unroll
        for (int i = 0; i < items; ++i) {
            const int item = static_cast<int>(threadIdx.x) + i * threads_of_block<K>;
            const int row = item / packs;
            if (row < min(tile_keys, capacity) && first + row < capacity) {
                const int dimension = item % packs * 4;
                keys_[i] = load_stored<4, K::is_aligned>(key_row(first + row) + dimension);
                values_[i] = load_stored<4, K::is_aligned>(value_row(first + row) + dimension);
            }
        }
    }

    /// Puts those before number `end` into shared memory that are in use; the others may hold anything, NaN too.
    template <class Tile>
    __device__ __forceinline__ void store(Tile& tile, int first, int end, const TilePlace<K>& place) const {
#pragma unroll
        for (int i = 0; i < items; ++i) {
            const int item = static_cast<int>(threadIdx.x) + i * threads_of_block<K>;
            const int row = item / packs;
            if (row < tile_keys) {
                const bool counts = first + row < end && place.has_key(first + row);
                tile.store(row, item % packs * 4, counts ? keys_[i] : StoredPack<Key, 4>{},
                           counts ? values_[i] : StoredPack<Key, 4>{});
            }
        }
    }

private:
    StoredPack<Key, 4> keys_[items];
    StoredPack<Key, 4> values_[items];
};

}  // namespace totograph::cuda::tile_detail
