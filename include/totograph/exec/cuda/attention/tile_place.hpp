// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/attention_tile.hpp>
#include <totograph/exec/cuda/attention/suffix_rows.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>

// Which queries a block of a tiled attention has, and where they and their keys lie.

namespace totograph::cuda::tile_detail {

/// The place of a block: all axes but the queries'. A lane has two of the queries, `half` 0 and 1.
template <class K>
class TilePlace {
    using S = AttentionSizes<K>;
    static constexpr int all_slices = S::samples * S::positions;

public:
    __device__ __forceinline__ TilePlace() {
        int block = static_cast<int>(blockIdx.x);
        first_query_ = block % query_tiles<K> * queries_of_block<K>;
        block /= query_tiles<K>;
        shared_.head = block % S::heads;
        block /= S::heads;
        if constexpr (S::is_over_variates) {
            constexpr int slice_groups = (all_slices + slices<K> - 1) / slices<K>;
            first_slice_ = block % slice_groups * slices<K>;
            block /= slice_groups;
        } else {
            shared_.variate = block % S::variates;
            block /= S::variates;
            constexpr int others = S::queries_are_positions ? S::samples : S::positions;
            (S::queries_are_positions ? shared_.sample : shared_.position) = block % others;
            block /= others;
        }
        shared_.series = block;
        warp_query_ = first_query_ + (shares_keys<K> ? 0 : static_cast<int>(threadIdx.x) / warp_size * queries_of_warp);
    }

    /// What all queries of the block have in common; their own axis is 0.
    [[nodiscard]] __device__ __forceinline__ const QueryPlace& shared() const { return shared_; }
    /// The first query of the block, and that of the warp.
    [[nodiscard]] __device__ __forceinline__ int first_query() const { return first_query_; }
    [[nodiscard]] __device__ __forceinline__ int warp_query() const { return warp_query_; }
    /// Whether the warp has queries.
    [[nodiscard]] __device__ __forceinline__ bool is_active() const { return warp_query_ < queries<K>; }

    [[nodiscard]] __device__ __forceinline__ int query_of(int half) const {
        return warp_query_ + static_cast<int>(threadIdx.x) % warp_size / 4 + half * 8;
    }
    [[nodiscard]] __device__ __forceinline__ bool exists(int half) const {
        return query_of(half) < queries<K> &&
               (!S::is_over_variates || first_slice_ + query_of(half) / S::variates < all_slices);
    }
    [[nodiscard]] __device__ __forceinline__ QueryPlace place_of_query(int half) const {
        if constexpr (S::is_over_variates) {
            return place_in_tile(query_of(half));
        } else {
            QueryPlace place = shared_;
            (S::queries_are_positions ? place.position : place.sample) = query_of(half);
            return place;
        }
    }

    /// The place of one of the tile's variates.
    [[nodiscard]] __device__ __forceinline__ QueryPlace place_in_tile(int number) const {
        QueryPlace place = shared_;
        const int slice = min(first_slice_ + number / S::variates, all_slices - 1);
        place.sample = slice / S::positions;
        place.position = slice % S::positions;
        place.variate = number % S::variates;
        return place;
    }

private:
    int first_query_ = 0;
    int warp_query_ = 0;
    int first_slice_ = 0;  ///< Of attention over variates: the first of the positions of samples that the tile holds.
    QueryPlace shared_{};
};

/// Where the rows of keys or values lie that the queries of a block share: those of operand `which`.
template <class K, int which>
struct SharedRows {
    const typename K::Key* base;
    const TilePlace<K>& place;

    __device__ __forceinline__ const typename K::Key* operator()(int number) const {
        if constexpr (AttentionSizes<K>::is_over_variates) {
            const QueryPlace own = place.place_in_tile(number);
            return base + row_of<K, which>(own, own.variate, own.position);
        } else {
            return base + row_of<K, which>(place.shared(), place.shared().variate, number);
        }
    }
};
template <class K, int which>
__device__ __forceinline__ SharedRows<K, which> shared_rows(const KernelCall& call, const TilePlace<K>& place) {
    return {call.operands[which].template get<typename K::Key>(positions_of<K>(call)), place};
}

}  // namespace totograph::cuda::tile_detail
