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

/// Whether a query takes a whole block, where a step is not on tiles.
template <class K>
constexpr bool query_takes_block() {
    return select_attention(K::kernel, storage_of<K>, Precision::f32, least_device) == AttentionKernel::block;
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
    static constexpr auto together = static_cast<int>(AttentionLimits::block_keys_together);
    /// Keys that a block takes at a time.
    static constexpr int keys_at_once = together * keys_of_block;
    static_assert(block_threads == AttentionLimits::block_threads);
    /// Blocks of a cluster that share the keys of a query. Devices without clusters take one.
    static constexpr auto parts = static_cast<int>(block_parts_of(K::kernel));

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

    /// What one warp found, or a block.
    struct Partial {
        float largest;
        float total;
        float accumulators[S::head_dim];
    };
    /// One dimension of that.
    struct Dimension {
        float largest = -std::numeric_limits<float>::infinity();
        float total = 0;
        float sum = 0;

        [[nodiscard]] __device__ __forceinline__ float result() const { return total == 0 ? 0.0F : sum / total; }
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

    /// One dimension of what all parts found; `part(i)` is one of them.
    template <int count, class Part>
    static __device__ __forceinline__ Dimension combine(int dimension, const Part& part) {
        Dimension all;
        float largest[count];
#pragma unroll
        for (int i = 0; i < count; ++i) {
            largest[i] = part(i).largest;
            all.largest = fmaxf(all.largest, largest[i]);
        }
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const float total = part(i).total;
            const float weight = total == 0 ? 0.0F : expf(largest[i] - all.largest);
            all.total += weight * total;
            all.sum += weight * part(i).accumulators[dimension];
        }
        return all;
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

/// The blocks of this thread's cluster that share a query.
template <class K>
struct QueryParts {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    static constexpr int count = BlockShare<K>::parts;
#else
    static constexpr int count = 1;  // without clusters
#endif
    static __device__ __forceinline__ int own() {
        return static_cast<int>(blockIdx.x) % count;
    }

    /// Waits for the others; what they wrote to shared memory can be read afterwards.
    static __device__ __forceinline__ void synchronize() {
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    }
    /// What lies in the shared memory of block `part` where it lies in this one's.
    template <class T>
    static __device__ __forceinline__ const T& of(int part, const T& own) {
        std::uint64_t address;
        asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(&own), "r"(part));
        return *reinterpret_cast<const T*>(address);
    }
};

/// Stores the result of a query, of what the warps of all its blocks found.
template <class K>
__device__ __forceinline__ void store_query(
    const typename BlockAttention<K>::Partial (&partial)[BlockAttention<K>::warps], Output<K>* out) {
    using Attention = BlockAttention<K>;
    using Parts = QueryParts<K>;
    const auto dimension = static_cast<int>(threadIdx.x);
    const bool has_dimension = dimension < AttentionSizes<K>::head_dim;
    typename Attention::Dimension all;
    if (has_dimension) {
        all = Attention::template combine<Attention::warps>(
            dimension, [&](int i) -> const auto& { return partial[i]; });
    }
    if constexpr (Parts::count > 1) {
        __shared__ typename Attention::Partial of_block;
        if (has_dimension) {
            of_block.largest = all.largest;  // each thread the same
            of_block.total = all.total;
            of_block.accumulators[dimension] = all.sum;
        }
        Parts::synchronize();
        if (has_dimension && Parts::own() == 0) {
            all = Attention::template combine<Parts::count>(
                dimension, [&](int i) -> const auto& { return Parts::of(i, of_block); });
        }
        Parts::synchronize();  // shared memory of a block that has ended cannot be read
    }
    if (has_dimension && Parts::own() == 0) {
        out[dimension] = stored_as<Output<K>>(all.result());
    }
}

/// A block a query, or several that share its keys. `keys_at(place)` gives the keys of a query.
template <class K, class KeysAt>
__device__ __forceinline__ void attend_by_block(const KernelCall& call, const UsedExtents<K>& used, KeysAt&& keys_at) {
    using S = AttentionSizes<K>;
    using Attention = BlockAttention<K>;
    using Parts = QueryParts<K>;
    static_assert(S::head_dim <= block_threads, "A thread a dimension of the result.");
    __shared__ typename Attention::Partial partial[Attention::warps];
    const auto* query = call.operands[0].get<typename K::Query>(positions_of<K>(call));
    auto* out = call.output.get<Output<K>>(positions_of<K>(call));
    const auto first_item = static_cast<Offset<K>>(blockIdx.x / Parts::count);
    constexpr int step = Parts::count * BlockShare<K>::keys_at_once;
    const int begin = Parts::own() * BlockShare<K>::keys_at_once;
    for (auto item = first_item; item < static_cast<Offset<K>>(S::queries);
         item += static_cast<Offset<K>>(gridDim.x / Parts::count)) {
        const QueryPlace place = query_place<K>(item);
        const bool query_is_used = is_used<K>(used, place);  // alike in all blocks of the cluster
        const auto keys = keys_at(place);
        BlockKeys<K> loaded;
        if (query_is_used) {
            loaded.load(keys, begin, 0, keys.early);
        }
        if (K::prefix_is_early && item == first_item) {
            wait_for_predecessor();
            launch_dependents();
        }
        if (!query_is_used) {
            continue;
        }
        loaded.load(keys, begin, keys.early, keys.count);
        Attention attention;
        attention.load_query(query + row_of<K, 0>(place, place.variate, place.position));
        const float scale = score_scale<K>(call);
        for (int first = begin; first < keys.count; first += step) {
            if (first > begin) {
                loaded.load(keys, first, 0, keys.count);
            }
            attention.add(keys, loaded, first, scale);
        }
        attention.store(partial[threadIdx.x / warp_size]);
        __syncthreads();
        store_query<K>(partial, out + output_row<K>(place));
        __syncthreads();  // the parts may still be read
    }
}

}  // namespace totograph::cuda
