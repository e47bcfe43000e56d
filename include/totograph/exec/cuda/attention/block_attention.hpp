// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/block_keys.hpp>
#include <totograph/exec/cuda/attention/cache_rows.hpp>
#include <totograph/exec/cuda/attention/select.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reciprocal.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/cluster_parts.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/kernel.hpp>

// A block a query and head, whose warps share the keys: for few queries.

namespace totograph::cuda {

/// Whether a query takes a whole block, where a step is not on tiles.
template <class K>
constexpr bool query_takes_block() {
    return select_attention(K::kernel, storage_of<K>, Precision::f32, least_device) == AttentionKernel::block;
}

/// The softmax of one query, of the keys of a thread.
template <class K>
class BlockAttention {
    using S = AttentionSizes<K>;
    using Share = BlockShare<K>;
    using Packs = typename BlockKeys<K>::Packs;
    static constexpr int width = Share::width;
    static constexpr int lanes = Share::lanes;
    static constexpr float lowest = -std::numeric_limits<float>::infinity();

public:
    static constexpr int warps = Share::warps;

    /// What one warp found, or a block.
    struct Partial {
        float largest;
        float total;
        float accumulators[S::head_dim];
    };
    /// One dimension of that.
    struct Dimension {
        float largest = lowest;
        float total = 0;
        float sum = 0;

        [[nodiscard]] __device__ __forceinline__ float result() const { return sum * share_of_weight(total); }
    };

    __device__ __forceinline__ void load_query(const typename K::Query* row) {
        constexpr int together_loaded = 16 / static_cast<int>(sizeof(typename K::Query));
        const auto* from = row + Share::first_dimension();
#pragma unroll
        for (int i = 0; i < width; i += together_loaded) {
            const auto some = load_stored<together_loaded, true>(from + i).floats();
#pragma unroll
            for (int j = 0; j < together_loaded; ++j) {
                query_.lane[i + j] = some.lane[j];
            }
        }
    }

    /// Takes the keys of a turn and asks for those of the next one.
    template <class Keys>
    __device__ __forceinline__ void add(const Keys& keys, BlockKeys<K>& loaded, int turn, float scale) {
        constexpr int together = Share::together;
        const bool goes_on = Share::has_turn(turn + 1, keys.prefix, keys.count);
        float score[together];
        bool counts[together];
        float larger = largest_;
#pragma unroll
        for (int i = 0; i < together; ++i) {
            const int number = Share::number_of(i, turn, keys.prefix, keys.count);
            counts[i] = number >= 0 && loaded.counts(keys, i, number);
            score[i] = lowest;
            // Blocks of a cluster leave out, by warp, what none of its lanes has; others have one turn, or several of
            // which nearly all are full.
            if (Share::parts == 1 || __any_sync(0xffffffffU, counts[i])) {
                score[i] = score_of(loaded.key[i]) * scale;
                larger = fmaxf(larger, counts[i] ? score[i] : lowest);  // what is not attended to may be NaN
            }
        }
        if (goes_on) {
            loaded.template load_keys<0>(keys, turn + 1);
        }
        const float shrink = largest_ == larger ? 1.0F : exp_of(largest_ - larger);
        largest_ = larger;
        total_ *= shrink;
#pragma unroll
        for (float& sum : accumulators_) {
            sum *= shrink;
        }
#pragma unroll
        for (int i = 0; i < together; ++i) {
            if (counts[i]) {
                add_value(exp_of(score[i] - larger), loaded.value[i]);
            }
        }
        if (goes_on) {
            loaded.template load_values<0>(keys, turn + 1);
        }
    }

    /// Adds up what the lanes of a warp found. They halve what is left to each, in place of adding up all in all lanes.
    __device__ __forceinline__ void store(Partial& partial) {
        float warp_largest = largest_;
#pragma unroll
        for (int distance = Share::key_lanes; distance < warp_size; distance *= 2) {
            warp_largest = fmaxf(warp_largest, __shfl_xor_sync(0xffffffffU, warp_largest, distance));
        }
        const float shrink = weight_of(*this, warp_largest);
        total_ *= shrink;
#pragma unroll
        for (float& sum : accumulators_) {
            sum *= shrink;
        }
#pragma unroll
        for (int distance = Share::key_lanes; distance < warp_size; distance *= 2) {
            total_ += __shfl_xor_sync(0xffffffffU, total_, distance);
        }
        const int first = Share::first_dimension() + halve<warp_size / 2, width>();
        if (threadIdx.x % warp_size == 0) {
            partial.largest = warp_largest;
            partial.total = total_;
        }
        constexpr int left = width * Share::key_lanes / warp_size;
#pragma unroll
        for (int i = 0; i < left; ++i) {
            partial.accumulators[first + i] = accumulators_[i];
        }
    }

    /// One dimension of what all parts found.
    template <int count>
    static __device__ __forceinline__ Dimension combine(int dimension, const Partial (&parts)[count]) {
        Dimension all;
#pragma unroll
        for (int i = 0; i < count; ++i) {
            all.largest = fmaxf(all.largest, parts[i].largest);
        }
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const float weight = weight_of(parts[i], all.largest);
            all.total += weight * parts[i].total;
            all.sum += weight * parts[i].accumulators[dimension];
        }
        return all;
    }

private:
    /// Adds up accumulators of lanes so far apart and nearer, of which each lane keeps half. Returns the first that it
    /// keeps.
    template <int distance, int count>
    __device__ __forceinline__ int halve() {
        if constexpr (distance < Share::key_lanes) {
            return 0;
        } else {
            constexpr int left = count / 2;
            const bool has_upper = (threadIdx.x & distance) != 0;
#pragma unroll
            for (int i = 0; i < left; ++i) {
                const float given = has_upper ? accumulators_[i] : accumulators_[i + left];
                const float kept = has_upper ? accumulators_[i + left] : accumulators_[i];
                accumulators_[i] = kept + __shfl_xor_sync(0xffffffffU, given, distance);
            }
            return (has_upper ? left : 0) + halve<distance / 2, left>();
        }
    }

    /// `e^x` for x of 0 and below, by one instruction: exact where it counts, near 0.
    static __device__ __forceinline__ float exp_of(float x) {
        constexpr float log2_e = 1.4426950408889634F;
        float result;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x * log2_e));
        return result;
    }
    /// What a part counts where `largest` is the largest score of all. Without a branch: of several parts, all are
    /// computed at once. Where there is no score at all, sums are 0.
    static __device__ __forceinline__ float weight_of(float part, float largest) {
        return exp_of(part - (largest == lowest ? 0.0F : largest));
    }
    static __device__ __forceinline__ float weight_of(const Partial& part, float largest) {
        return weight_of(part.largest, largest);
    }
    static __device__ __forceinline__ float weight_of(const BlockAttention& part, float largest) {
        return weight_of(part.largest_, largest);
    }

    __device__ __forceinline__ float score_of(const Packs& key) const {
        float even = 0;  // two sums, for each addition waits for the one before it
        float odd = 0;
#pragma unroll
        for (int pack = 0; pack < Share::packs; ++pack) {
            const auto some = key[pack].floats();
#pragma unroll
            for (int j = 0; j < lanes; j += 2) {
                even += query_.lane[pack * lanes + j] * some.lane[j];
                odd += query_.lane[pack * lanes + j + 1] * some.lane[j + 1];
            }
        }
        float score = even + odd;
#pragma unroll
        for (int distance = 1; distance < Share::key_lanes; distance *= 2) {
            score += __shfl_xor_sync(0xffffffffU, score, distance);
        }
        return score;
    }

    __device__ __forceinline__ void add_value(float weight, const Packs& value) {
        total_ += weight;
#pragma unroll
        for (int pack = 0; pack < Share::packs; ++pack) {
            const auto some = value[pack].floats();
#pragma unroll
            for (int j = 0; j < lanes; ++j) {
                accumulators_[pack * lanes + j] += weight * some.lane[j];
            }
        }
    }

    Pack<float, width> query_;
    float largest_ = lowest;
    float total_ = 0;
    float accumulators_[width] = {};
};

/// Stores the result of a query, of what the warps of all its blocks found.
template <class K>
__device__ __forceinline__ void store_query(
    const typename BlockAttention<K>::Partial (&partial)[BlockAttention<K>::warps], Output<K>* out) {
    using Attention = BlockAttention<K>;
    using Share = BlockShare<K>;
    const auto dimension = static_cast<int>(threadIdx.x);
    const bool has_dimension = dimension < AttentionSizes<K>::head_dim;
    typename Attention::Dimension all;
    if (has_dimension) {
        all = Attention::combine(dimension, partial);
    }
    if constexpr (Share::parts > 1) {
        using Parts = ClusterParts<typename Attention::Partial, Share::parts>;
        Parts::wait_for_others();
        if (has_dimension) {
            auto& place = Parts::place_of(Share::part());
            Parts::store(place.accumulators[dimension], all.sum);
            if (dimension == 0) {
                Parts::store(place.largest, all.largest);
                Parts::store(place.total, all.total);
            }
        }
        if (has_dimension && Share::part() == 0) {
            all = Attention::combine(dimension, Parts::wait_for_all());
        }
    }
    if (has_dimension && Share::part() == 0) {
        out[dimension] = stored_as<Output<K>>(all.result());
    }
}

/// A block a query, or several that share its keys. `keys_at(place)` gives the keys of a query. What lies in the place
/// of the first keys is asked for before it is known how many there are.
template <class K, class KeysAt>
__device__ __forceinline__ void attend_by_block(const KernelCall& call, const UsedExtents<K>& used, KeysAt&& keys_at) {
    using S = AttentionSizes<K>;
    using Attention = BlockAttention<K>;
    using Share = BlockShare<K>;
    static_assert(S::head_dim <= block_threads, "A thread a dimension of the result.");
    __shared__ typename Attention::Partial partial[Attention::warps];
    if constexpr (Share::parts > 1) {
        ClusterParts<typename Attention::Partial, Share::parts>::begin();
    }
    const auto* query = call.operands[0].get<typename K::Query>(positions_of<K>(call));
    auto* out = call.output.get<Output<K>>(positions_of<K>(call));
    const auto first_item = static_cast<Offset<K>>(blockIdx.x / Share::parts);
    constexpr bool loads_first = loads_first_keys<K>();
    constexpr int first_late = loads_first ? Share::of_prefix : 0;
    const bool has_keys = Share::warp_has_keys();
    for (auto item = first_item; item < static_cast<Offset<K>>(S::queries);
         item += static_cast<Offset<K>>(gridDim.x / Share::parts)) {
        const QueryPlace place = query_place<K>(item);
        const bool query_is_used = is_used<K>(used, place);  // alike in all blocks of the cluster
        BlockKeys<K> loaded;
        Attention attention;
        if constexpr (loads_first) {
            if (query_is_used && has_keys) {
                loaded.load_first(CacheRows<K>(call), mask_ids<K>(call), place);
            }
        }
        const auto load_query = [&] {
            attention.load_query(query + row_of<K, 0>(place, place.variate, place.position));
        };
        constexpr bool loads_query_first = loads_first && !K::prefix_is_early;
        if (loads_query_first && query_is_used && has_keys) {
            load_query();
        }
        const auto keys = keys_at(place);
        if (K::prefix_is_early && item == first_item) {
            wait_for_predecessor();
            launch_dependents();
        }
        if (!query_is_used) {
            continue;
        }
        if (has_keys) {
            if constexpr (!loads_query_first) {
                load_query();
            }
            loaded.template load_keys<first_late>(keys, 0);
            loaded.template load_values<first_late>(keys, 0);
            const float scale = score_scale<K>(call);
            for (int turn = 0; Share::has_turn(turn, keys.prefix, keys.count); ++turn) {
                attention.add(keys, loaded, turn, scale);
            }
            attention.store(partial[threadIdx.x / warp_size]);
        }
        __syncthreads();
        store_query<K>(partial, out + output_row<K>(place));
        if constexpr (Share::parts > 1) {
            return;  // a cluster has one query
        }
        __syncthreads();  // the parts may still be read
    }
}

}  // namespace totograph::cuda
