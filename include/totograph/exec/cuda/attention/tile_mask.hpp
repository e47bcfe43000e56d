// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/exec/cuda/attention/attention.hpp>
#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/attention_tile.hpp>
#include <totograph/exec/cuda/attention/suffix_rows.hpp>
#include <totograph/exec/cuda/attention/tile_place.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/movement.hpp>

// Which of the keys that the queries of a block share each of them attends to.

namespace totograph::cuda::tile_detail {

/// How many keys count at all: of a prefill the valid ones, of a step of decoding those of the prefix.
template <class K>
__device__ __forceinline__ int count_of_keys(const KernelCall& call, const std::int32_t* integers, int series) {
    using S = AttentionSizes<K>;
    if constexpr (S::is_prefill) {
        return min(keys<K>, max(integer_of<K, 3>(integers, series), 0));
    } else if constexpr (S::is_decode) {
        return call.report.bounded(integer_of<K, 3>(integers, series), key_capacity<K, 1>);
    } else {
        return keys<K>;
    }
}

/// Keys that any query of the block attends to lie before it.
template <class K>
__device__ __forceinline__ int end_of_keys(const TilePlace<K>& place, int count) {
    return AttentionSizes<K>::is_prefill ? min(count, place.first_query() + tile_queries) : count;
}

/// What the two queries of a lane attend to: the keys before a limit, or those of a group.
struct LaneLimits {
    int limit[2] = {};
    std::int32_t group[2] = {};
};

/// Which keys the queries of a lane attend to. Limits lie elsewhere: an array that is indexed in a loop would keep the
/// compiler from seeing through the rest.
template <class K>
class TileMask {
    using S = AttentionSizes<K>;

public:
    /// @param integers  of attention over variates: the groups
    /// @param count     keys that count at all
    __device__ __forceinline__ TileMask(const TilePlace<K>& place, const std::int32_t* integers, int count,
                                        LaneLimits& limits)
        : place_(place), integers_(integers), limits_(limits), shared_limit_(S::is_decode ? count : 0) {
        if constexpr (S::is_over_variates) {
            limits.group[0] = place.exists(0) ? group_of(place.query_of(0)) : 0;
            limits.group[1] = place.exists(1) ? group_of(place.query_of(1)) : 0;
        } else if constexpr (S::is_prefill) {
            // Positions from `count` on attend to nothing: their result is 0, as on the CPU.
            shared_limit_ = place.warp_query() + queries_of_warp <= count ? place.warp_query() + 1 : 0;
            for (int half = 0; half < 2; ++half) {
                limits.limit[half] = place.query_of(half) < count ? place.query_of(half) + 1 : 0;
            }
        } else {
            limits.limit[0] = limits.limit[1] = count;
        }
    }

    /// Whether all queries of the warp attend to all keys of the tile from `first` on.
    [[nodiscard]] __device__ __forceinline__ bool all_count(int first) const {
        return first + tile_keys <= shared_limit_;
    }
    /// Whether a query attends to a key.
    [[nodiscard]] __device__ __forceinline__ bool counts(int half, int number) const {
        if constexpr (S::is_over_variates) {
            return number < keys<K> && number / S::variates == place_.query_of(half) / S::variates &&
                   group_of(number) == limits_.group[half];
        } else {
            return number < limits_.limit[half];
        }
    }

private:
    [[nodiscard]] __device__ __forceinline__ std::int32_t group_of(int number) const {
        const QueryPlace own = place_.place_in_tile(number);
        return mask_entry<K>(integers_, own, own.variate, own.position);
    }

    const TilePlace<K>& place_;
    const std::int32_t* integers_;
    const LaneLimits& limits_;
    int shared_limit_;  ///< Up to there all queries of the warp attend to all keys.
};

}  // namespace totograph::cuda::tile_detail
