// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/block_attention.hpp>
#include <totograph/exec/cuda/attention/warp_attention.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/movement.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// Attention in f32: which keys each query has, and by how many threads.

namespace totograph::cuda {

template <class K, class KeysAt>
__device__ __forceinline__ void attend(const KernelCall& call, KeysAt&& keys_at) {
    static_assert(AttentionSizes<K>::head_dim % 2 == 0, "totograph: the CUDA executor needs heads of even width.");
    if constexpr (query_takes_block<K>()) {
        attend_by_block<K>(call, keys_at);
    } else {
        attend_by_warp<K>(call, keys_at);
    }
}

/// Whether a step asks for what it can read before it waits for the launch before.
template <class K>
constexpr bool waits_for_itself() {
    if constexpr (K::kernel.kind == KernelKind::structural && K::kernel.op == Op::cached_attention) {
        return K::prefix_is_early && query_takes_block<K>();
    } else {
        return false;
    }
}

/// The keys of one query: how many there are, where their rows begin, and which of them count.
template <class Key, class Value, class Counts>
struct QueryKeys {
    int count;
    int settled;  ///< So many of them, the first ones, can be read while the launch before still runs.
    Key key;
    Value value;
    Counts counts;
};

/// Over the positions up to each query's own that are valid.
template <class K>
__device__ void run_causal_attention(const KernelCall& call) {
    static_assert(widths_are_contiguous<K>(3), "totograph: attention needs heads that are contiguous in memory.");
    const auto* key = call.operands[1].get<typename K::Key>(positions_of<K>(call));
    const auto* value = call.operands[2].get<typename K::Key>(positions_of<K>(call));
    const auto* valid = call.operands[3].get<std::int32_t>(positions_of<K>(call));
    attend<K>(call, [&](const QueryPlace& place) {
        // Positions from `valid` on attend to nothing: their result is 0, as on the CPU.
        return QueryKeys{place.position < integer_of<K, 3>(valid, place.series) ? place.position + 1 : 0, 0,
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
    const auto* prefix_key = call.operands[1].get<Key>(positions_of<K>(call));
    const auto* prefix_value = call.operands[2].get<Key>(positions_of<K>(call));
    const auto* suffix_key = call.operands[4].get<Key>(positions_of<K>(call));
    const auto* suffix_value = call.operands[5].get<Key>(positions_of<K>(call));
    const auto* prefix_length = call.operands[3].get<std::int32_t>(positions_of<K>(call));
    const auto* suffix_length = call.operands[6].get<std::int32_t>(positions_of<K>(call));
    attend<K>(call, [&](const QueryPlace& place) {
        const int prefix = call.report.bounded(integer_of<K, 3>(prefix_length, place.series), key_capacity<K, 1>);
        const int suffix = call.report.bounded(integer_of<K, 6>(suffix_length, place.series), key_capacity<K, 4>, 1);
        return QueryKeys{prefix + suffix, K::prefix_is_early ? prefix : 0,
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
    const auto* key = call.operands[1].get<typename K::Key>(positions_of<K>(call));
    const auto* value = call.operands[2].get<typename K::Key>(positions_of<K>(call));
    const auto* groups = call.operands[3].get<std::int32_t>(positions_of<K>(call));
    const auto group = [&](const QueryPlace& place, int variate) {
        constexpr Strides strides = K::kernel.operands[3].strides;
        return groups[place.series * static_cast<Offset<K>>(strides[0]) + variate * static_cast<Offset<K>>(strides[1]) +
                      place.position * static_cast<Offset<K>>(strides[2])];
    };
    attend<K>(call, [&](const QueryPlace& place) {
        const std::int32_t own = group(place, place.variate);
        return QueryKeys{AttentionSizes<K>::variates, 0,
                         [&](int i) { return key + row_of<K, 1>(place, i, place.position); },
                         [&](int i) { return value + row_of<K, 2>(place, i, place.position); },
                         [&, own](int i) { return group(place, i) == own; }};
    });
}

}  // namespace totograph::cuda
