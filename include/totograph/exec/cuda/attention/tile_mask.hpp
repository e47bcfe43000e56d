// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include <totograph/exec/cuda/attention/attention.hpp>
#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/attention_tile.hpp>
#include <totograph/exec/cuda/attention/staged_rows.hpp>
#include <totograph/exec/cuda/attention/tile_place.hpp>
#include <totograph/exec/cuda/attention/tile_scores.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/movement.hpp>

// Which of the keys that the queries of a block share each of them attends to.

namespace totograph::cuda::tile_detail {

/// How many keys count at all, but for those of a suffix: of a prefill the valid ones, of others those of the prefix.
template <class K>
__device__ __forceinline__ int count_of_keys(const KernelCall& call, const std::int32_t* integers, int series) {
    using S = AttentionSizes<K>;
    if constexpr (S::is_prefill) {
        return min(keys<K>, max(integer_of<K, 3>(integers, series), 0));
    } else if constexpr (S::is_over_variates) {
        return keys<K>;
    } else {
        return call.report.bounded(integer_of<K, 3>(integers, series), key_capacity<K, 1>);
    }
}

/// At which key query 0 stands, of queries at positions; the others follow it.
template <class K>
__device__ __forceinline__ int first_place(int count, int suffix_count) {
    using S = AttentionSizes<K>;
    return S::attention.queries == QueryPlaces::first ? 0 : count + suffix_count - S::positions;
}

/// Keys that any query of the block attends to lie before it, counted on from those of the prefix to the suffix's.
template <class K>
__device__ __forceinline__ int end_of_keys(const TilePlace<K>& place, int count, int suffix_count) {
    using S = AttentionSizes<K>;
    const int all = count + suffix_count;
    if constexpr (S::queries_are_positions && S::attention.is_causal) {
        return max(0, min(all, first_place<K>(count, suffix_count) + place.first_query() + queries_of_block<K>));
    } else {
        return all;
    }
}

/// What the two queries of a lane attend to: the keys before a limit, those of a suffix before another, of a group.
struct LaneLimits {
    int limit[2] = {};
    int suffix_limit[2] = {};
    std::int32_t group[2] = {};
};

/// Which keys the queries of a lane attend to. Limits lie elsewhere: an array that is indexed in a loop would keep the
/// compiler from seeing through the rest.
template <class K>
class TileMask {
    using S = AttentionSizes<K>;
    static constexpr KeyMask mask = S::attention.mask;

public:
    /// @param ids           of the mask; null without one
    /// @param count         keys that count at all
    /// @param suffix_count  keys of the suffix that do, where the queries share one
    __device__ __forceinline__ TileMask(const TilePlace<K>& place, const std::int32_t* ids, int count, int suffix_count,
                                        LaneLimits& limits)
        : place_(place), ids_(ids), limits_(limits), shared_limit_(S::is_decode ? count : 0) {
        if constexpr (S::is_over_variates) {
            limits.group[0] = place.exists(0) ? group_of(place.query_of(0)) : 0;
            limits.group[1] = place.exists(1) ? group_of(place.query_of(1)) : 0;
        } else if constexpr (S::queries_are_positions) {
            for (int half = 0; half < 2; ++half) {
                limit_position(count, suffix_count, half, limits);
            }
            if constexpr (S::attention.is_causal) {
                warp_limit_ = first_place<K>(count, suffix_count) + place.warp_query() + queries_of_warp;
            }
            if constexpr (mask == KeyMask::none) {
                const int total = count + suffix_count;
                const int own = first_place<K>(count, suffix_count) + place.warp_query();
                const int seen = S::attention.is_causal ? own + 1 : total;
                shared_limit_ = own + queries_of_warp <= total ? min(seen, count) : 0;
            }
        } else {
            limits.limit[0] = limits.limit[1] = count;
            limits.suffix_limit[0] = limits.suffix_limit[1] = suffix_count;
        }
    }

    // `first` is the first key of a tile.

    /// Whether all queries of the warp attend to all keys of a tile.
    template <int keys>
    [[nodiscard]] __device__ __forceinline__ bool all_count(int first) const {
        return first + keys <= shared_limit_;
    }
    /// Whether any of them attends to any.
    [[nodiscard]] __device__ __forceinline__ bool any_counts(int first) const { return first < warp_limit_; }
    /// Whether a query attends to a key which is not masked, of a score of the lane.
    [[nodiscard]] __device__ __forceinline__ bool counts(int first, int score) const {
        const int half = query_of_score(score);
        const int number = first + key_of_score(score);
        if constexpr (S::is_over_variates) {
            return number < keys<K> && number / S::variates == place_.query_of(half) / S::variates &&
                   group_of(number) == limits_.group[half];
        } else {
            return number < limits_.limit[half];
        }
    }
    /// The same of a key of the suffix.
    [[nodiscard]] __device__ __forceinline__ bool counts_of_suffix(int first, int score) const {
        return first + key_of_score(score) < limits_.suffix_limit[query_of_score(score)];
    }
    /// A bit for each score: whether the mask lets the query see the key.
    template <int keys>
    [[nodiscard]] __device__ __forceinline__ std::uint32_t unmasked(int first) const {
        return unmasked_entries<keys>(first, 0, S::is_over_variates ? tile_detail::keys<K> : key_capacity<K, 1>);
    }
    template <int keys>
    [[nodiscard]] __device__ __forceinline__ std::uint32_t unmasked_of_suffix(int first) const {
        return unmasked_entries<keys>(first, key_capacity<K, 1>, key_capacity<K, suffix_key>);
    }

private:
    /// What a query at a position sees. One behind the last key attends to nothing: its result is 0, as on the CPU.
    __device__ __forceinline__ void limit_position(int count, int suffix_count, int half, LaneLimits& limits) const {
        const int total = count + suffix_count;
        const int own = first_place<K>(count, suffix_count) + place_.query_of(half);
        if (!place_.exists(half) || own >= total || (mask == KeyMask::by_group && own < 0)) {
            return;
        }
        const int seen = S::attention.is_causal ? max(own + 1, 0) : total;
        limits.limit[half] = min(seen, count);
        limits.suffix_limit[half] = seen - count;
        if constexpr (mask == KeyMask::by_group) {
            limits.group[half] = id_of(own < count ? own : key_capacity<K, 1> + own - count);
        }
    }
    /// All entries of the mask are asked for at once, of keys beyond the last one that of the last: a branch for each
    /// score would wait for one after the other.
    /// @param before    entries before the first key
    /// @param capacity  keys that there can be
    template <int keys>
    [[nodiscard]] __device__ __forceinline__ std::uint32_t unmasked_entries(int first, int before, int capacity) const {
        if constexpr (S::is_over_variates || mask == KeyMask::none) {
            return 0xffffffffU;
        } else {
            constexpr int scores = scores_of_lane(keys);
            std::int32_t ids[scores / 2];
#pragma unroll
            for (int i = 0; i < scores / 2; ++i) {
                ids[i] = id_of(before + min(first + key_of_score(i / 2 * 4 + i % 2), capacity - 1));
            }
            std::uint32_t bits = 0;
#pragma unroll
            for (int score = 0; score < scores; ++score) {
                const std::int32_t id = ids[score / 4 * 2 + score % 2];
                const bool is_seen = mask == KeyMask::by_key ? id != 0 : id == limits_.group[query_of_score(score)];
                bits |= is_seen ? 1U << score : 0U;
            }
            return bits;
        }
    }
    [[nodiscard]] __device__ __forceinline__ std::int32_t id_of(int entry) const {
        return mask_entry<K>(ids_, place_.shared(), place_.shared().variate, entry);
    }
    [[nodiscard]] __device__ __forceinline__ std::int32_t group_of(int number) const {
        const QueryPlace own = place_.place_in_tile(number);
        return mask_entry<K>(ids_, own, own.variate, own.position);
    }

    const TilePlace<K>& place_;
    const std::int32_t* ids_;
    const LaneLimits& limits_;
    int warp_limit_ = std::numeric_limits<int>::max();  ///< From there on no query of the warp attends to a key.
    int shared_limit_;                                  ///< Up to there all queries of the warp attend to all keys.
};

}  // namespace totograph::cuda::tile_detail
