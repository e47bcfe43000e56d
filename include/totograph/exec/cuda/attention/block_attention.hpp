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
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/graph/kernel.hpp>

// A block a query and head, whose warps share the keys: for few queries with many keys.

namespace totograph::cuda {

/// What one warp found of a query whose keys a block shares.
template <int head_dim>
struct PartialAttention {
    float largest;
    float total;
    float sums[head_dim];
};

/// Whether a query takes a whole block; that does not depend on the precision.
template <class K>
constexpr bool query_takes_block() {
    return select_attention(K::kernel, K::is_aligned, Precision::f32) == AttentionKernel::block;
}

/// A block a query, a key four lanes; two keys at a time, all of their loads before the first sum.
template <class K, class KeysAt>
__device__ __forceinline__ void attend_by_block(const KernelCall& call, KeysAt&& keys_at) {
    using S = AttentionSizes<K>;
    using T = typename K::Key;
    constexpr int warps = block_threads / warp_size;
    constexpr int width = S::head_dim / 4;  // dimensions of a lane
    constexpr int lanes = 16 / static_cast<int>(sizeof(T));
    constexpr int packs = width / lanes;
    constexpr int keys_of_block = block_threads / 4;
    constexpr int together = 2;
    __shared__ PartialAttention<S::head_dim> partial[warps];
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int slot = static_cast<int>(threadIdx.x) / 4;
    const int first_dimension = lane % 4 * width;
    const auto* query = call.operands[0].get<typename K::Query>(positions_of<K>(call));
    auto* out = call.output.get<Output<K>>(positions_of<K>(call));
    for (auto item = static_cast<Offset<K>>(blockIdx.x); item < static_cast<Offset<K>>(S::queries);
         item += static_cast<Offset<K>>(gridDim.x)) {
        const QueryPlace place = query_place<K>(item);
        const auto keys = keys_at(place);
        StoredPack<T, lanes> key[together][packs];
        StoredPack<T, lanes> value[together][packs];
        // Asks for the keys from number `first` on that lie between two numbers.
        const auto load_keys = [&](int first, int begin, int end) {
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int number = first + i * keys_of_block + slot;
                if (number >= begin && number < end) {
                    const T* key_row = keys.key(number) + first_dimension;
                    const T* value_row = keys.value(number) + first_dimension;
#pragma unroll
                    for (int pack = 0; pack < packs; ++pack) {
                        key[i][pack] = load_stored<lanes, true>(key_row + pack * lanes);
                        value[i][pack] = load_stored<lanes, true>(value_row + pack * lanes);
                    }
                }
            }
        };
        load_keys(0, 0, keys.settled);
        if (K::prefix_is_early && item == static_cast<Offset<K>>(blockIdx.x)) {
            wait_for_predecessor();
            launch_dependents();
        }
        load_keys(0, keys.settled, keys.count);
        Pack<float, width> own;
        {
            using Q = typename K::Query;
            constexpr int together_loaded = 16 / static_cast<int>(sizeof(Q));
            const Q* from = query + row_of<K, 0>(place, place.variate, place.position) + first_dimension;
#pragma unroll
            for (int i = 0; i < width; i += together_loaded) {
                const auto some = load_stored<together_loaded, true>(from + i).floats();
#pragma unroll
                for (int j = 0; j < together_loaded; ++j) {
                    own.lane[i + j] = some.lane[j];
                }
            }
        }
        const float factor = score_scale<K>(call);
        float largest = -std::numeric_limits<float>::infinity();
        float total = 0;
        float sums[width] = {};
        for (int first = 0; first < keys.count; first += together * keys_of_block) {
            if (first > 0) {
                load_keys(first, 0, keys.count);
            }
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int number = first + i * keys_of_block + slot;
                const bool counts = number < keys.count && keys.counts(number);
                float score = 0;
#pragma unroll
                for (int pack = 0; pack < packs; ++pack) {
                    const auto four = key[i][pack].floats();
#pragma unroll
                    for (int j = 0; j < lanes; ++j) {
                        score += own.lane[pack * lanes + j] * four.lane[j];
                    }
                }
                score += __shfl_xor_sync(0xffffffffU, score, 1);
                score += __shfl_xor_sync(0xffffffffU, score, 2);
                if (counts) {  // what is not attended to may be NaN
                    score *= factor;
                    const float larger = fmaxf(largest, score);
                    const float shrink = expf(largest - larger);
                    const float weight = expf(score - larger);
                    largest = larger;
                    total = total * shrink + weight;
#pragma unroll
                    for (int pack = 0; pack < packs; ++pack) {
                        const auto four = value[i][pack].floats();
#pragma unroll
                        for (int j = 0; j < lanes; ++j) {
                            sums[pack * lanes + j] = sums[pack * lanes + j] * shrink + weight * four.lane[j];
                        }
                    }
                }
            }
        }
        // The keys of a warp.
        float warp_largest = largest;
#pragma unroll
        for (int distance = 4; distance < warp_size; distance *= 2) {
            warp_largest = fmaxf(warp_largest, __shfl_xor_sync(0xffffffffU, warp_largest, distance));
        }
        const float shrink = total == 0 ? 0.0F : expf(largest - warp_largest);
        total *= shrink;
#pragma unroll
        for (int i = 0; i < width; ++i) {
            sums[i] *= shrink;
        }
#pragma unroll
        for (int distance = 4; distance < warp_size; distance *= 2) {
            total += __shfl_xor_sync(0xffffffffU, total, distance);
#pragma unroll
            for (int i = 0; i < width; ++i) {
                sums[i] += __shfl_xor_sync(0xffffffffU, sums[i], distance);
            }
        }
        if (lane < 4) {
            partial[warp].largest = warp_largest;
            partial[warp].total = total;
#pragma unroll
            for (int i = 0; i < width; ++i) {
                partial[warp].sums[first_dimension + i] = sums[i];
            }
        }
        __syncthreads();
        const auto dimension = static_cast<int>(threadIdx.x);
        if (dimension < S::head_dim) {
            float all_largest = partial[0].largest;
#pragma unroll
            for (int other = 1; other < warps; ++other) {
                all_largest = fmaxf(all_largest, partial[other].largest);
            }
            float all = 0;
            float sum = 0;
#pragma unroll
            for (int other = 0; other < warps; ++other) {
                const float weight = partial[other].total == 0 ? 0.0F : expf(partial[other].largest - all_largest);
                all += weight * partial[other].total;
                sum += weight * partial[other].sums[dimension];
            }
            out[output_row<K>(place) + dimension] = stored_as<Output<K>>(all == 0 ? 0.0F : sum / all);
        }
        __syncthreads();  // the parts may still be read
    }
}

}  // namespace totograph::cuda
