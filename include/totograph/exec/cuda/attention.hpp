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
// lane; the softmax is carried along (https://arxiv.org/abs/1805.02867), so that no score is ever stored. Few queries
// with many keys take a block each, whose warps share the keys.

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

/// What one warp found of a query whose keys a block shares.
template <int head_dim>
struct PartialAttention {
    float largest;
    float total;
    float sums[head_dim];
};

/// The running softmax of one query, spread over a warp.
template <int head_dim, bool aligned>
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
                const auto* row = value(min(first + j, count - 1));
#pragma unroll
                for (int i = 0; i < per_lane; ++i) {
                    const int dimension = lane_ + i * warp_size;
                    rows[j][i] = dimension < head_dim ? static_cast<float>(row[dimension]) : 0.0F;
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

    template <class T>
    __device__ __forceinline__ float dot(const T* key) const {
        constexpr int most = 16 / static_cast<int>(sizeof(T));
        constexpr int lanes = head_dim % most == 0 ? most : 2;
        float total = 0;
#pragma unroll 16
        for (int dimension = 0; dimension < head_dim; dimension += lanes) {
            const auto part = load_pack<1, lanes, aligned>(key + dimension);
#pragma unroll
            for (int i = 0; i < lanes; ++i) {
                total += query_[dimension + i] * static_cast<float>(part.lane[i]);
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

/// Keys that one query may attend to.
template <class K>
constexpr Index keys_of() {
    using S = AttentionSizes<K>;
    if constexpr (K::kernel.op == Op::causal_attention) {
        return S::positions;
    } else if constexpr (K::kernel.op == Op::cached_attention) {
        return K::kernel.operands[1].shape[3] + K::kernel.operands[4].shape[3];
    } else {
        return S::variates;
    }
}

/// Whether a query takes a whole block, whose warps share its keys: queries are few and keys are many.
template <class K>
constexpr bool query_takes_block() {
    return AttentionSizes<K>::queries <= 512 && keys_of<K>() > 8 && K::is_aligned &&
           AttentionSizes<K>::head_dim % 32 == 0 && AttentionSizes<K>::head_dim <= 128;
}

/// A warp a query, a key a lane. `keys_at(place)` gives the keys of a query.
template <class K, class KeysAt>
__device__ __forceinline__ void attend_by_warp(const KernelCall& call, KeysAt&& keys_at) {
    using S = AttentionSizes<K>;
    constexpr int warps = block_threads / warp_size;
    __shared__ alignas(16) float queries[warps][(S::head_dim + 3) / 4 * 4];
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const auto* query = call.operands[0].get<typename K::Query>();
    auto* out = call.output.get<Output<K>>();
    for (auto item = static_cast<Offset<K>>(blockIdx.x * warps + static_cast<unsigned>(warp));
         item < static_cast<Offset<K>>(S::queries); item += static_cast<Offset<K>>(gridDim.x * warps)) {
        const QueryPlace place = query_place<K>(item);
        const auto* row = query + row_of<K, 0>(place, place.variate, place.position);
        __syncwarp();
        for (int dimension = lane; dimension < S::head_dim; dimension += warp_size) {
            queries[warp][dimension] = static_cast<float>(row[dimension]);
        }
        __syncwarp();
        RunningAttention<S::head_dim, K::is_aligned> running(queries[warp]);
        const auto keys = keys_at(place);
        for (int first = 0; first < keys.count; first += warp_size) {
            running.add(
                min(warp_size, keys.count - first), [&](int i) { return keys.key(first + i); },
                [&](int i) { return keys.value(first + i); }, [&](int i) { return keys.counts(first + i); });
        }
        running.store(out + output_row<K>(place));
    }
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
    const auto* query = call.operands[0].get<typename K::Query>();
    auto* out = call.output.get<Output<K>>();
    const float factor = rsqrtf(static_cast<float>(S::head_dim));
    for (auto item = static_cast<Offset<K>>(blockIdx.x); item < static_cast<Offset<K>>(S::queries);
         item += static_cast<Offset<K>>(gridDim.x)) {
        const QueryPlace place = query_place<K>(item);
        const auto own =
            load_stored<width, false>(query + row_of<K, 0>(place, place.variate, place.position) + first_dimension)
                .floats();
        const auto keys = keys_at(place);
        float largest = -std::numeric_limits<float>::infinity();
        float total = 0;
        float sums[width] = {};
        for (int first = 0; first < keys.count; first += together * keys_of_block) {
            StoredPack<T, lanes> key[together][packs];
            StoredPack<T, lanes> value[together][packs];
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int number = first + i * keys_of_block + slot;
                if (number < keys.count) {
                    const T* key_row = keys.key(number) + first_dimension;
                    const T* value_row = keys.value(number) + first_dimension;
#pragma unroll
                    for (int pack = 0; pack < packs; ++pack) {
                        key[i][pack] = load_stored<lanes, true>(key_row + pack * lanes);
                        value[i][pack] = load_stored<lanes, true>(value_row + pack * lanes);
                    }
                }
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

template <class K, class KeysAt>
__device__ __forceinline__ void attend(const KernelCall& call, KeysAt&& keys_at) {
    static_assert(AttentionSizes<K>::head_dim % 2 == 0, "totograph: the CUDA executor needs heads of even width.");
    if constexpr (query_takes_block<K>()) {
        attend_by_block<K>(call, keys_at);
    } else {
        attend_by_warp<K>(call, keys_at);
    }
}

/// The keys of one query: how many there are, where their rows begin, and which of them count.
template <class Key, class Value, class Counts>
struct QueryKeys {
    int count;
    Key key;
    Value value;
    Counts counts;
};

/// Over the positions up to each query's own that are valid.
template <class K>
__device__ void run_causal_attention(const KernelCall& call) {
    static_assert(widths_are_contiguous<K>(3), "totograph: attention needs heads that are contiguous in memory.");
    const auto* key = call.operands[1].get<typename K::Key>();
    const auto* value = call.operands[2].get<typename K::Key>();
    const auto* valid = call.operands[3].get<std::int32_t>();
    attend<K>(call, [&](const QueryPlace& place) {
        // Positions from `valid` on attend to nothing: their result is 0, as on the CPU.
        return QueryKeys{place.position < integer_of<K, 3>(valid, place.series) ? place.position + 1 : 0,
                         [&](int i) { return key + row_of<K, 1>(place, place.variate, i); },
                         [&](int i) { return value + row_of<K, 2>(place, place.variate, i); },
                         [](int) { return true; }};
    });
}

/// One position against a prefix and each sample's own suffix.
template <class K>
__device__ void run_cached_attention(const KernelCall& call) {
    static_assert(widths_are_contiguous<K>(6), "totograph: attention needs heads that are contiguous in memory.");
    using Key = typename K::Key;
    const auto* prefix_key = call.operands[1].get<Key>();
    const auto* prefix_value = call.operands[2].get<Key>();
    const auto* suffix_key = call.operands[4].get<Key>();
    const auto* suffix_value = call.operands[5].get<Key>();
    const auto* prefix_length = call.operands[3].get<std::int32_t>();
    const auto* suffix_length = call.operands[6].get<std::int32_t>();
    attend<K>(call, [&](const QueryPlace& place) {
        const int prefix = integer_of<K, 3>(prefix_length, place.series);
        const int suffix = integer_of<K, 6>(suffix_length, place.series);
        return QueryKeys{prefix + suffix,
                         [&, prefix](int i) {
                             return i < prefix ? prefix_key + row_of<K, 1>(place, place.variate, i)
                                               : suffix_key + row_of<K, 4>(place, place.variate, i - prefix);
                         },
                         [&, prefix](int i) {
                             return i < prefix ? prefix_value + row_of<K, 2>(place, place.variate, i)
                                               : suffix_value + row_of<K, 5>(place, place.variate, i - prefix);
                         },
                         [](int) { return true; }};
    });
}

/// Over the variates of one position whose group is the query's.
template <class K>
__device__ void run_variate_attention(const KernelCall& call) {
    static_assert(widths_are_contiguous<K>(3), "totograph: attention needs heads that are contiguous in memory.");
    const auto* key = call.operands[1].get<typename K::Key>();
    const auto* value = call.operands[2].get<typename K::Key>();
    const auto* groups = call.operands[3].get<std::int32_t>();
    const auto group = [&](const QueryPlace& place, int variate) {
        constexpr Strides strides = K::kernel.operands[3].strides;
        return groups[place.series * static_cast<Offset<K>>(strides[0]) + variate * static_cast<Offset<K>>(strides[1]) +
                      place.position * static_cast<Offset<K>>(strides[2])];
    };
    attend<K>(call, [&](const QueryPlace& place) {
        const std::int32_t own = group(place, place.variate);
        return QueryKeys{AttentionSizes<K>::variates,
                         [&](int i) { return key + row_of<K, 1>(place, i, place.position); },
                         [&](int i) { return value + row_of<K, 2>(place, i, place.position); },
                         [&, own](int i) { return group(place, i) == own; }};
    });
}

}  // namespace totograph::cuda
