// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/select.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/kernel.hpp>

// A block a query and head, whose warps share the keys: for few queries with many keys.

namespace totograph::cuda {

/// Whether a query takes a whole block; that does not depend on the precision.
template <class K>
constexpr bool query_takes_block() {
    return select_attention(K::kernel, K::is_aligned, Precision::f32, least_device) == AttentionKernel::block;
}

/// How a block shares the keys of a query: a key four lanes, or eight, an equal part of its dimensions each; two keys
/// at a time.
template <class K>
struct BlockShare {
    using Key = typename K::Key;
    static constexpr auto key_lanes = static_cast<int>(block_key_lanes(AttentionSizes<K>::head_dim));
    static constexpr int width = AttentionSizes<K>::head_dim / key_lanes;  ///< Dimensions of a lane.
    static constexpr int lanes = 16 / static_cast<int>(sizeof(Key));
    static constexpr int packs = width / lanes;
    static constexpr int keys_of_block = block_threads / key_lanes;
    static constexpr int together = 2;
    /// Keys that a block takes at a time.
    static constexpr int keys_at_once = together * keys_of_block;

    static __device__ __forceinline__ int first_dimension() {
        return static_cast<int>(threadIdx.x) % key_lanes * width;
    }
    /// The number of this thread's `i`th key.
    static __device__ __forceinline__ int number_of(int first, int i) {
        return first + i * keys_of_block + static_cast<int>(threadIdx.x) / key_lanes;
    }
};

/// Keys and values of a thread, all of them loaded before the first product.
template <class K>
struct BlockKeys {
    using Share = BlockShare<K>;
    using Packs = StoredPack<typename K::Key, Share::lanes>[Share::packs];
    Packs key[Share::together];
    Packs value[Share::together];

    /// Asks for the keys from number `first` on that lie between two numbers, and their values.
    template <class Keys>
    __device__ __forceinline__ void load(const Keys& keys, int first, int begin, int end) {
#pragma unroll
        for (int i = 0; i < Share::together; ++i) {
            const int number = Share::number_of(first, i);
            if (number >= begin && number < end) {
                const auto* key_row = keys.key(number) + Share::first_dimension();
                const auto* value_row = keys.value(number) + Share::first_dimension();
#pragma unroll
                for (int pack = 0; pack < Share::packs; ++pack) {
                    key[i][pack] = load_stored<Share::lanes, true>(key_row + pack * Share::lanes);
                    value[i][pack] = load_stored<Share::lanes, true>(value_row + pack * Share::lanes);
                }
            }
        }
    }
};

/// The softmax of one query, of the keys of a thread.
template <class K>
class BlockAttention {
    using S = AttentionSizes<K>;
    using Share = BlockShare<K>;
    using Packs = typename BlockKeys<K>::Packs;
    static constexpr int width = Share::width;
    static constexpr int lanes = Share::lanes;

public:
    static constexpr int warps = block_threads / warp_size;

    /// What one warp found.
    struct Partial {
        float largest;
        float total;
        float accumulators[S::head_dim];
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

    /// Takes the keys that were loaded, from number `first` on.
    template <class Keys>
    __device__ __forceinline__ void add(const Keys& keys, const BlockKeys<K>& loaded, int first, float scale) {
#pragma unroll
        for (int i = 0; i < Share::together; ++i) {
            const int number = Share::number_of(first, i);
            const bool counts = number < keys.count && keys.counts(number);
            const float score = score_of(loaded.key[i]);
            if (counts) {  // what is not attended to may be NaN
                add_value(score * scale, loaded.value[i]);
            }
        }
    }

    /// Adds up what the lanes of a warp found.
    __device__ __forceinline__ void store(Partial& partial) {
        float warp_largest = largest_;
#pragma unroll
        for (int distance = Share::key_lanes; distance < warp_size; distance *= 2) {
            warp_largest = fmaxf(warp_largest, __shfl_xor_sync(0xffffffffU, warp_largest, distance));
        }
        const float shrink = total_ == 0 ? 0.0F : expf(largest_ - warp_largest);
        total_ *= shrink;
#pragma unroll
        for (int i = 0; i < width; ++i) {
            accumulators_[i] *= shrink;
        }
#pragma unroll
        for (int distance = Share::key_lanes; distance < warp_size; distance *= 2) {
            total_ += __shfl_xor_sync(0xffffffffU, total_, distance);
#pragma unroll
            for (int i = 0; i < width; ++i) {
                accumulators_[i] += __shfl_xor_sync(0xffffffffU, accumulators_[i], distance);
            }
        }
        if (threadIdx.x % warp_size < Share::key_lanes) {
            partial.largest = warp_largest;
            partial.total = total_;
#pragma unroll
            for (int i = 0; i < width; ++i) {
                partial.accumulators[Share::first_dimension() + i] = accumulators_[i];
            }
        }
    }

    /// One dimension of the result, of what all warps found; 0 where nothing is attended to.
    static __device__ __forceinline__ float combine(const Partial (&partial)[warps], int dimension) {
        float largest = partial[0].largest;
#pragma unroll
        for (int other = 1; other < warps; ++other) {
            largest = fmaxf(largest, partial[other].largest);
        }
        float total = 0;
        float sum = 0;
#pragma unroll
        for (int other = 0; other < warps; ++other) {
            const float weight = partial[other].total == 0 ? 0.0F : expf(partial[other].largest - largest);
            total += weight * partial[other].total;
            sum += weight * partial[other].accumulators[dimension];
        }
        return total == 0 ? 0.0F : sum / total;
    }

private:
    __device__ __forceinline__ float score_of(const Packs& key) const {
        float score = 0;
#pragma unroll
        for (int pack = 0; pack < Share::packs; ++pack) {
            const auto some = key[pack].floats();
#pragma unroll
            for (int j = 0; j < lanes; ++j) {
                score += query_.lane[pack * lanes + j] * some.lane[j];
            }
        }
#pragma unroll
        for (int distance = 1; distance < Share::key_lanes; distance *= 2) {
            score += __shfl_xor_sync(0xffffffffU, score, distance);
        }
        return score;
    }

    __device__ __forceinline__ void add_value(float score, const Packs& value) {
        const float larger = fmaxf(largest_, score);
        const float shrink = expf(largest_ - larger);
        const float weight = expf(score - larger);
        largest_ = larger;
        total_ = total_ * shrink + weight;
#pragma unroll
        for (int pack = 0; pack < Share::packs; ++pack) {
            const auto some = value[pack].floats();
#pragma unroll
            for (int j = 0; j < lanes; ++j) {
                float& sum = accumulators_[pack * lanes + j];
                sum = sum * shrink + weight * some.lane[j];
            }
        }
    }

    Pack<float, width> query_;
    float largest_ = -std::numeric_limits<float>::infinity();
    float total_ = 0;
    float accumulators_[width] = {};
};

/// A block a query. `keys_at(place)` gives the keys of a query.
template <class K, class KeysAt>
__device__ __forceinline__ void attend_by_block(const KernelCall& call, KeysAt&& keys_at) {
    using S = AttentionSizes<K>;
    using Attention = BlockAttention<K>;
    static_assert(S::head_dim <= block_threads, "A thread a dimension of the result.");
    __shared__ typename Attention::Partial partial[Attention::warps];
    const auto* query = call.operands[0].get<typename K::Query>(positions_of<K>(call));
    auto* out = call.output.get<Output<K>>(positions_of<K>(call));
    for (auto item = static_cast<Offset<K>>(blockIdx.x); item < static_cast<Offset<K>>(S::queries);
         item += static_cast<Offset<K>>(gridDim.x)) {
        const QueryPlace place = query_place<K>(item);
        const auto keys = keys_at(place);
        BlockKeys<K> loaded;
        loaded.load(keys, 0, 0, keys.early);
        if (K::prefix_is_early && item == static_cast<Offset<K>>(blockIdx.x)) {
            wait_for_predecessor();
            launch_dependents();
        }
        loaded.load(keys, 0, keys.early, keys.count);
        Attention attention;
        attention.load_query(query + row_of<K, 0>(place, place.variate, place.position));
        const float scale = score_scale<K>(call);
        for (int first = 0; first < keys.count; first += BlockShare<K>::keys_at_once) {
            if (first > 0) {
                loaded.load(keys, first, 0, keys.count);
            }
            attention.add(keys, loaded, first, scale);
        }
        attention.store(partial[threadIdx.x / warp_size]);
        __syncthreads();
        const auto dimension = static_cast<int>(threadIdx.x);
        if (dimension < S::head_dim) {
            out[output_row<K>(place) + dimension] = stored_as<Output<K>>(Attention::combine(partial, dimension));
        }
        __syncthreads();  // the parts may still be read
    }
}

}  // namespace totograph::cuda
