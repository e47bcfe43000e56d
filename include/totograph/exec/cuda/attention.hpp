// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/elementwise.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/movement.hpp>
#include <totograph/exec/cuda/reduction.hpp>
#include <totograph/graph/kernel.hpp>

// Attention in f32, one warp a query and head. Scores are computed a key a lane; values are added up a few dimensions a
// lane; the softmax is carried along (https://arxiv.org/abs/1805.02867), so that no score is ever stored.

namespace totograph::cuda {

/// Sizes of an attention; rows are [series, sample, variate, position, width].
template <class K>
struct AttentionSizes {
    static constexpr Shape shape = K::kernel.iteration;
    static constexpr auto samples = static_cast<int>(shape[1]);
    static constexpr auto variates = static_cast<int>(shape[2]);
    static constexpr auto positions = static_cast<int>(shape[3]);
    static constexpr auto heads = static_cast<int>(K::kernel.attributes[0]);
    static constexpr int head_dim = static_cast<int>(shape[4]) / heads;
    static constexpr Index queries = shape[0] * shape[1] * shape[2] * shape[3] * heads;
};

/// One query's place.
struct QueryPlace {
    int series;
    int sample;
    int variate;
    int position;
    int head;
};

template <class K>
__device__ __forceinline__ QueryPlace query_place(Offset<K> item) {
    using S = AttentionSizes<K>;
    QueryPlace place{};
    place.head = static_cast<int>(item % S::heads);
    item /= S::heads;
    place.position = static_cast<int>(item % S::positions);
    item /= S::positions;
    place.variate = static_cast<int>(item % S::variates);
    item /= S::variates;
    place.sample = static_cast<int>(item % S::samples);
    place.series = static_cast<int>(item / S::samples);
    return place;
}

/// The offset of a row of an operand; an axis of samples of extent 1 serves all samples.
template <class K, int which>
__device__ __forceinline__ Offset<K> row_of(const QueryPlace& place, int variate, int position) {
    constexpr Operand operand = K::kernel.operands[static_cast<std::size_t>(which)];
    const auto stride = [](std::size_t axis) {
        return static_cast<Offset<K>>(K::kernel.operands[static_cast<std::size_t>(which)].strides[axis]);
    };
    return place.series * stride(0) + (operand.shape[1] == 1 ? 0 : place.sample * stride(1)) + variate * stride(2) +
           position * stride(3) + place.head * AttentionSizes<K>::head_dim;
}

template <class K>
__device__ __forceinline__ Offset<K> output_row(const QueryPlace& place) {
    constexpr Strides strides = K::kernel.output_strides;
    return place.series * static_cast<Offset<K>>(strides[0]) + place.sample * static_cast<Offset<K>>(strides[1]) +
           place.variate * static_cast<Offset<K>>(strides[2]) + place.position * static_cast<Offset<K>>(strides[3]) +
           place.head * AttentionSizes<K>::head_dim;
}

template <class K>
constexpr bool widths_are_contiguous(int tensors) {
    for (int i = 0; i < tensors; ++i) {
        const Operand& operand = K::kernel.operands[static_cast<std::size_t>(i)];
        if (operand.shape.rank == 5 && operand.strides[4] != 1) {
            return false;
        }
    }
    return K::kernel.output_strides[4] == 1;
}

/// The running softmax of one query, spread over a warp.
template <int head_dim>
class RunningAttention {
public:
    static constexpr int per_lane = (head_dim + warp_size - 1) / warp_size;

    /// `query` is in shared memory.
    __device__ explicit RunningAttention(const float* query)
        : query_(query), lane_(static_cast<int>(threadIdx.x) % warp_size) {}

    /// Takes `count` (at most a warp) keys and values: `key(i)` and `value(i)` point to rows, `counts(i)` says whether
    /// a key is attended to.
    template <class Key, class Value, class Counts>
    __device__ __forceinline__ void add(int count, Key&& key, Value&& value, Counts&& counts) {
        float score = -std::numeric_limits<float>::infinity();
        if (lane_ < count && counts(lane_)) {
            score = dot(key(lane_)) * rsqrt_of_width();
        }
        const float largest = fmaxf(largest_, warp_maximum(score));
        if (largest == -std::numeric_limits<float>::infinity()) {
            return;  // nothing is attended to so far
        }
        const float shrink = expf(largest_ - largest);
        const float weight = expf(score - largest);
        largest_ = largest;
        total_ = total_ * shrink + warp_sum(weight);
#pragma unroll
        for (int i = 0; i < per_lane; ++i) {
            sums_[i] *= shrink;
        }
        // Several rows at a time, so that their loads overlap; beyond the last key weights are 0.
        constexpr int together = 8;
        for (int first = 0; first < count; first += together) {
            float rows[together][per_lane];
#pragma unroll
            for (int j = 0; j < together; ++j) {
                const float* row = value(min(first + j, count - 1));
#pragma unroll
                for (int i = 0; i < per_lane; ++i) {
                    const int dimension = lane_ + i * warp_size;
                    rows[j][i] = dimension < head_dim ? row[dimension] : 0.0F;
                }
            }
#pragma unroll
            for (int j = 0; j < together; ++j) {
                const float factor = __shfl_sync(0xffffffffU, weight, (first + j) % warp_size);
                if (first + j < count && factor != 0) {  // what is not attended to may be NaN
#pragma unroll
                    for (int i = 0; i < per_lane; ++i) {
                        sums_[i] += factor * rows[j][i];
                    }
                }
            }
        }
    }

    template <class To>
    __device__ __forceinline__ void store(To* out) const {
        const float scale = total_ > 0 ? 1.0F / total_ : 0.0F;
#pragma unroll
        for (int i = 0; i < per_lane; ++i) {
            const int dimension = lane_ + i * warp_size;
            if (dimension < head_dim) {
                out[dimension] = stored_as<To>(sums_[i] * scale);
            }
        }
    }

private:
    static constexpr __device__ float rsqrt_of_width() {
        double root = head_dim;  // Newton's iteration: constant expressions have no sqrt
        for (int i = 0; i < 64; ++i) {
            root = 0.5 * (root + head_dim / root);
        }
        return static_cast<float>(1.0 / root);
    }

    __device__ __forceinline__ float dot(const float* key) const {
        constexpr int lanes = head_dim % 4 == 0 ? 4 : 2;
        float total = 0;
#pragma unroll 16
        for (int dimension = 0; dimension < head_dim; dimension += lanes) {
            const auto part = load_pack<1, lanes>(key + dimension);
#pragma unroll
            for (int i = 0; i < lanes; ++i) {
                total += query_[dimension + i] * part.lane[i];
            }
        }
        return total;
    }

    const float* query_;
    int lane_;
    float largest_ = -std::numeric_limits<float>::infinity();
    float total_ = 0;
    float sums_[per_lane] = {};
};

/// Calls `attend(place, running)` for each query of the kernel, a warp each, and stores what it attended to.
template <class K, class Attend>
__device__ __forceinline__ void for_each_query(const KernelCall& call, Attend&& attend) {
    using S = AttentionSizes<K>;
    static_assert(S::head_dim % 2 == 0, "totograph: the CUDA executor needs heads of even width.");
    constexpr int warps = block_threads / warp_size;
    __shared__ alignas(16) float queries[warps][(S::head_dim + 3) / 4 * 4];
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const auto* query = call.operands[0].get<float>();
    auto* out = call.output.get<Output<K>>();
    for (Offset<K> item = static_cast<Offset<K>>(blockIdx.x * warps + static_cast<unsigned>(warp));
         item < static_cast<Offset<K>>(S::queries); item += static_cast<Offset<K>>(gridDim.x * warps)) {
        const QueryPlace place = query_place<K>(item);
        const float* row = query + row_of<K, 0>(place, place.variate, place.position);
        __syncwarp();
        for (int dimension = lane; dimension < S::head_dim; dimension += warp_size) {
            queries[warp][dimension] = row[dimension];
        }
        __syncwarp();
        RunningAttention<S::head_dim> running(queries[warp]);
        attend(place, running);
        running.store(out + output_row<K>(place));
    }
}

/// Over the positions up to each query's own that are valid.
template <class K>
__device__ void run_causal_attention(const KernelCall& call) {
    static_assert(widths_are_contiguous<K>(3), "totograph: attention needs heads that are contiguous in memory.");
    const auto* key = call.operands[1].get<float>();
    const auto* value = call.operands[2].get<float>();
    const auto* valid = call.operands[3].get<std::int32_t>();
    for_each_query<K>(call, [&](const QueryPlace& place, auto& running) {
        // Positions from `valid` on attend to nothing: their result is 0, as on the CPU.
        const int end = place.position < integer_of<K, 3>(valid, place.series) ? place.position + 1 : 0;
        for (int first = 0; first < end; first += warp_size) {
            running.add(
                min(warp_size, end - first), [&](int i) { return key + row_of<K, 1>(place, place.variate, first + i); },
                [&](int i) { return value + row_of<K, 2>(place, place.variate, first + i); }, [](int) { return true; });
        }
    });
}

/// One position against a prefix and each sample's own suffix.
template <class K>
__device__ void run_cached_attention(const KernelCall& call) {
    static_assert(widths_are_contiguous<K>(6), "totograph: attention needs heads that are contiguous in memory.");
    const auto* prefix_key = call.operands[1].get<float>();
    const auto* prefix_value = call.operands[2].get<float>();
    const auto* suffix_key = call.operands[4].get<float>();
    const auto* suffix_value = call.operands[5].get<float>();
    const auto* prefix_length = call.operands[3].get<std::int32_t>();
    const auto* suffix_length = call.operands[6].get<std::int32_t>();
    for_each_query<K>(call, [&](const QueryPlace& place, auto& running) {
        const auto all = [](int) { return true; };
        const int prefix_end = integer_of<K, 3>(prefix_length, place.series);
        for (int first = 0; first < prefix_end; first += warp_size) {
            running.add(
                min(warp_size, prefix_end - first),
                [&](int i) { return prefix_key + row_of<K, 1>(place, place.variate, first + i); },
                [&](int i) { return prefix_value + row_of<K, 2>(place, place.variate, first + i); }, all);
        }
        const int suffix_end = integer_of<K, 6>(suffix_length, place.series);
        for (int first = 0; first < suffix_end; first += warp_size) {
            running.add(
                min(warp_size, suffix_end - first),
                [&](int i) { return suffix_key + row_of<K, 4>(place, place.variate, first + i); },
                [&](int i) { return suffix_value + row_of<K, 5>(place, place.variate, first + i); }, all);
        }
    });
}

/// Over the variates of one position whose group is the query's.
template <class K>
__device__ void run_variate_attention(const KernelCall& call) {
    static_assert(widths_are_contiguous<K>(3), "totograph: attention needs heads that are contiguous in memory.");
    const auto* key = call.operands[1].get<float>();
    const auto* value = call.operands[2].get<float>();
    const auto* groups = call.operands[3].get<std::int32_t>();
    for_each_query<K>(call, [&](const QueryPlace& place, auto& running) {
        constexpr Strides strides = K::kernel.operands[3].strides;
        const auto group = [&](int variate) {
            return groups[place.series * static_cast<Offset<K>>(strides[0]) +
                          variate * static_cast<Offset<K>>(strides[1]) +
                          place.position * static_cast<Offset<K>>(strides[2])];
        };
        const std::int32_t own = group(place.variate);
        for (int first = 0; first < AttentionSizes<K>::variates; first += warp_size) {
            running.add(
                min(warp_size, AttentionSizes<K>::variates - first),
                [&](int i) { return key + row_of<K, 1>(place, first + i, place.position); },
                [&](int i) { return value + row_of<K, 2>(place, first + i, place.position); },
                [&](int i) { return group(first + i) == own; });
        }
    });
}

}  // namespace totograph::cuda
