// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/attention_tile.hpp>
#include <totograph/exec/cuda/attention/staged_rows.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>

// Which queries a block of a tiled attention has, and where they and their keys lie.

namespace totograph::cuda::tile_detail {

/// The place of a block, which all blocks of a cluster have: all axes but the queries'. A lane has two of the queries,
/// `half` 0 and 1.
template <class K>
class TilePlace {
    using S = AttentionSizes<K>;
    static constexpr int all_slices = S::samples * S::positions;

public:
    __device__ __forceinline__ explicit TilePlace(const UsedExtents<K>& used) {
        int block = static_cast<int>(blockIdx.x) / parts_of_tile<K>;
        if constexpr (S::queries_are_positions && S::attention.is_causal) {
            // The last queries have the most keys. Their blocks go first: begun late, all would wait for them.
            constexpr auto groups = static_cast<int>(tile_blocks<K>) / query_tiles<K>;
            first_query_ = (query_tiles<K> - 1 - block / groups) * queries_of_block<K>;
            block %= groups;
        } else {
            first_query_ = block % query_tiles<K> * queries_of_block<K>;
            block /= query_tiles<K>;
        }
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
        is_used_ = has_used(used);
        if constexpr (S::is_over_variates) {
            used_samples_ = used.template along<1>();
            used_variates_ = used.template along<2>();
            used_positions_ = used.template along<3>();
        } else {
            used_queries_ = S::queries_are_positions ? used.template along<3>() : used.template along<1>();
        }
    }

    /// Whether any query of the block is in use.
    [[nodiscard]] __device__ __forceinline__ bool is_used() const { return is_used_; }

    /// What all queries of the block have in common; their own axis is 0.
    [[nodiscard]] __device__ __forceinline__ const QueryPlace& shared() const { return shared_; }
    /// The first query of the block, and that of the warp.
    [[nodiscard]] __device__ __forceinline__ int first_query() const { return first_query_; }
    [[nodiscard]] __device__ __forceinline__ int warp_query() const { return warp_query_; }
    /// Whether the warp has queries.
    [[nodiscard]] __device__ __forceinline__ bool is_active() const { return warp_query_ < used_queries_; }
    /// So many of the queries that share keys are in use: the first ones.
    [[nodiscard]] __device__ __forceinline__ int used_queries() const { return used_queries_; }

    [[nodiscard]] __device__ __forceinline__ int query_of(int half) const {
        return warp_query_ + static_cast<int>(threadIdx.x) % warp_size / 4 + half * 8;
    }
    [[nodiscard]] __device__ __forceinline__ bool exists(int half) const {
        return query_of(half) < used_queries_ &&
               (!S::is_over_variates ||
                (first_slice_ + query_of(half) / S::variates < all_slices && has_key(query_of(half))));
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

    /// Whether a key is in use, which is one of the tile's variates; of other keys, lengths tell. What is in no use
    /// takes no part, and may be anything.
    [[nodiscard]] __device__ __forceinline__ bool has_key([[maybe_unused]] int number) const {
        if constexpr (S::is_over_variates && K::bounds.any()) {
            const QueryPlace own = place_in_tile(number);
            return own.sample < used_samples_ && own.variate < used_variates_ && own.position < used_positions_;
        } else {
            return true;
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
    [[nodiscard]] __device__ __forceinline__ bool has_used(const UsedExtents<K>& used) const {
        if (shared_.series >= used.template along<0>()) {
            return false;
        }
        const int samples = used.template along<1>();
        const int variates = used.template along<2>();
        const int positions = used.template along<3>();
        if constexpr (S::is_over_variates) {
            // Slices are positions of samples, one after the other.
            const int last_slice = min(first_slice_ + slices<K>, all_slices) - 1;
            const int sample = first_slice_ / S::positions;
            const bool reaches_next = last_slice / S::positions > sample;
            const bool has_slice =
                sample < samples && (first_slice_ % S::positions < positions || (reaches_next && sample + 1 < samples));
            return has_slice && (slices<K> > 1 || first_query_ < variates);
        } else {
            const bool has_others = S::queries_are_positions ? shared_.sample < samples : shared_.position < positions;
            return shared_.variate < variates && has_others &&
                   first_query_ < (S::queries_are_positions ? positions : samples);
        }
    }

    int first_query_ = 0;
    int warp_query_ = 0;
    int used_queries_ = queries<K>;
    int used_samples_ = S::samples;
    int used_variates_ = S::variates;
    int used_positions_ = S::positions;
    bool is_used_ = true;
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
