// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reciprocal.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/graph/kernel.hpp>

// One warp a query and head. Scores are computed a key a lane; values are added up a few dimensions a lane; the softmax
// is carried along (https://arxiv.org/abs/1805.02867), so that no score is ever stored.

namespace totograph::cuda {

/// The running softmax of one query, spread over a warp.
template <class K>
class RunningAttention {
    static constexpr int head_dim = AttentionSizes<K>::head_dim;
    static constexpr int value_dim = AttentionSizes<K>::value_dim;

public:
    static constexpr int per_lane = (value_dim + warp_size - 1) / warp_size;

    /// `query` is in shared memory.
    __device__ RunningAttention(const float* query, float scale)
        : query_(query), scale_(scale), lane_(static_cast<int>(threadIdx.x) % warp_size) {}

    /// Takes `count` (at most a warp) keys and values: `key(i)` and `value(i)` point to rows, `counts(i)` says whether
    /// a key is attended to.
    template <class Key, class Value, class Counts>
    __device__ __forceinline__ void add(int count, Key&& key, Value&& value, Counts&& counts) {
        float score = -std::numeric_limits<float>::infinity();
        const bool is_attended = lane_ < count && counts(lane_);
        if (__any_sync(0xffffffffU, is_attended) == 0) {
            return;
        }
        if (is_attended) {
            score = dot(key(lane_)) * scale_;
        }
        const float largest = fmaxf(largest_, maximum_of_group<warp_size>(score));
        // Where all that counts so far is NaN or negative infinity, any finite number will do.
        const float base = largest == -std::numeric_limits<float>::infinity() ? 0.0F : largest;
        const float shrink = expf(largest_ - base);
        const float weight = expf(score - base);
        largest_ = largest;
        total_ = total_ * shrink + warp_sum(weight);
#pragma unroll
        for (int i = 0; i < per_lane; ++i) {
            accumulators_[i] *= shrink;
        }
        // Several rows at a time, so that their loads overlap; beyond the last key weights are 0.
        constexpr int together = 8;
        for (int first = 0; first < count; first += together) {
            float rows[together][per_lane];
#pragma unroll
            for (int j = 0; j < together; ++j) {
                const auto* row = value(min(first + j, count - 1));
#pragma unroll
                for (int i = 0; i < per_lane; ++i) {
                    const int dimension = lane_ + i * warp_size;
                    rows[j][i] = dimension < value_dim ? static_cast<float>(row[dimension]) : 0.0F;
                }
            }
#pragma unroll
            for (int j = 0; j < together; ++j) {
                const float factor = __shfl_sync(0xffffffffU, weight, (first + j) % warp_size);
                if (first + j < count && factor != 0) {  // what is not attended to may be NaN
#pragma unroll
                    for (int i = 0; i < per_lane; ++i) {
                        accumulators_[i] += factor * rows[j][i];
                    }
                }
            }
        }
    }

    template <class To>
    __device__ __forceinline__ void store(To* out) const {
        const float scale = share_of_weight(total_);
#pragma unroll
        for (int i = 0; i < per_lane; ++i) {
            const int dimension = lane_ + i * warp_size;
            if (dimension < value_dim) {
                out[dimension] = stored_as<To>(accumulators_[i] * scale);
            }
        }
    }

private:
    template <class T>
    __device__ __forceinline__ float dot(const T* key) const {
        constexpr int most = 16 / static_cast<int>(sizeof(T));
        constexpr int lanes = head_dim % most == 0 ? most : 2;
        float total = 0;
#pragma unroll 16
        for (int dimension = 0; dimension < head_dim; dimension += lanes) {
            const auto part = load_pack<1, lanes, K::is_aligned>(key + dimension);
#pragma unroll
            for (int i = 0; i < lanes; ++i) {
                total += query_[dimension + i] * static_cast<float>(part.lane[i]);
            }
        }
        return total;
    }

    const float* query_;
    float scale_;
    int lane_;
    float largest_ = -std::numeric_limits<float>::infinity();
    float total_ = 0;
    float accumulators_[per_lane] = {};
};

/// A warp a query, a key a lane. `keys_at(place)` gives the keys of a query.
template <class K, class KeysAt>
__device__ __forceinline__ void attend_by_warp(const KernelCall& call, const UsedExtents<K>& used, KeysAt&& keys_at) {
    using S = AttentionSizes<K>;
    constexpr int warps = block_threads / warp_size;
    __shared__ alignas(16) float queries[warps][(S::head_dim + 3) / 4 * 4];
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const auto* query = call.operands[0].get<typename K::Query>(positions_of<K>(call));
    auto* out = call.output.get<Output<K>>(positions_of<K>(call));
    for (auto item = static_cast<Offset<K>>(blockIdx.x * warps + static_cast<unsigned>(warp));
         item < static_cast<Offset<K>>(S::queries); item += static_cast<Offset<K>>(gridDim.x * warps)) {
        const QueryPlace place = query_place<K>(item);
        if (!is_used<K>(used, place)) {
            continue;  // all of the warp
        }
        const auto* row = query + row_of<K, 0>(place, place.variate, place.position);
        __syncwarp();
        for (int dimension = lane; dimension < S::head_dim; dimension += warp_size) {
            queries[warp][dimension] = static_cast<float>(row[dimension]);
        }
        __syncwarp();
        RunningAttention<K> running(queries[warp], score_scale<K>(call));
        const auto keys = keys_at(place);
        for (int first = 0; first < keys.count; first += warp_size) {
            running.add(
                min(warp_size, keys.count - first), [&](int i) { return keys.key(first + i); },
                [&](int i) { return keys.value(first + i); },
                [&](int i) { return keys.counts(keys.entry(first + i)); });
        }
        running.store(out + output_row<K>(place));
    }
}

}  // namespace totograph::cuda
