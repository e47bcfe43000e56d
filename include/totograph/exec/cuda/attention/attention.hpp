// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/block_attention.hpp>
#include <totograph/exec/cuda/attention/cache_rows.hpp>
#include <totograph/exec/cuda/attention/warp_attention.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/movement.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// Attention in f32: which keys each query has, and by how many threads.

namespace totograph::cuda {

template <class K, class KeysAt>
__device__ __forceinline__ void attend(const KernelCall& call, const UsedExtents<K>& used, KeysAt&& keys_at) {
    static_assert(AttentionSizes<K>::head_dim % 2 == 0, "totograph: the CUDA executor needs heads of even width.");
    if constexpr (query_takes_block<K>()) {
        attend_by_block<K>(call, used, keys_at);
    } else {
        attend_by_warp<K>(call, used, keys_at);
    }
}

/// Whether a step asks for what it can read before it waits for the launch before.
template <class K>
constexpr bool waits_for_itself() {
    if constexpr (K::kernel.kind == KernelKind::structural && K::kernel.op == Op::attention) {
        return K::prefix_is_early && query_takes_block<K>();
    } else {
        return false;
    }
}

/// The keys of one query: how many there are, where their rows begin, the mask's entry of each, and whether a key with
/// such an entry counts.
template <class Key, class Value, class Entry, class Counts>
struct QueryKeys {
    int count;
    int prefix;  ///< So many of them, the first ones, lie together.
    Key key;
    Value value;
    Entry entry;
    Counts counts;
};

/// Over the positions up to each query's own that are valid.
template <class K>
__device__ __forceinline__ void run_prefill(const KernelCall& call, const UsedExtents<K>& used) {
    const auto* key = call.operands[1].get<typename K::Key>(positions_of<K>(call));
    const auto* value = call.operands[2].get<typename K::Key>(positions_of<K>(call));
    const auto* valid = call.operands[3].get<std::int32_t>(positions_of<K>(call));
    attend<K>(call, used, [&](const QueryPlace& place) {
        // Positions from `valid` on attend to nothing: their result is 0, as on the CPU.
        const int count = place.position < integer_of<K, 3>(valid, place.series) ? place.position + 1 : 0;
        return QueryKeys{count,
                         count,
                         [&](int i) { return key + row_of<K, 1>(place, place.variate, i); },
                         [&](int i) { return value + row_of<K, 2>(place, place.variate, i); },
                         [](int) { return 0; },
                         [](std::int32_t) { return true; }};
    });
}

/// Over the keys of a cache, and those of a suffix where there is one.
template <class K>
__device__ __forceinline__ void run_against_cache(const KernelCall& call, const UsedExtents<K>& used) {
    using S = AttentionSizes<K>;
    constexpr KeyMask mask = S::attention.mask;
    const CacheRows<K> rows(call);
    const std::int32_t* ids = mask_ids<K>(call);
    attend<K>(call, used, [&](const QueryPlace& place) {
        std::int32_t group = 0;
        if constexpr (mask == KeyMask::by_group && S::stands_in_prefix) {
            group = mask_entry<K>(ids, place, place.variate, min(place.position, key_capacity<K, 1> - 1));
        }
        const auto lengths = rows.lengths(call.report, place);
        const int prefix = lengths.prefix;
        const int total = prefix + lengths.suffix;
        // The key at which the query stands.
        const int own =
            S::attention.queries == QueryPlaces::first ? place.position : total - S::positions + place.position;
        const bool sees_nothing = own >= total || (mask == KeyMask::by_group && own < 0);
        const int count = sees_nothing ? 0 : S::attention.is_causal ? max(own + 1, 0) : total;
        const auto entry = [=](int i) {
            return mask_entry<K>(ids, place, place.variate, i < prefix ? i : key_capacity<K, 1> + i - prefix);
        };
        if constexpr (mask == KeyMask::by_group && !S::stands_in_prefix) {
            group = sees_nothing ? 0 : entry(own);
        }
        return QueryKeys{count,
                         min(prefix, count),
                         [=](int i) { return rows.key(place, prefix, i); },
                         [=](int i) { return rows.value(place, prefix, i); },
                         entry,
                         [=](std::int32_t of_key) { return counts_in_mask<K>(of_key, group); }};
    });
}

/// Over the variates of one position that count for the query.
template <class K>
__device__ __forceinline__ void run_across_variates(const KernelCall& call, const UsedExtents<K>& used) {
    using S = AttentionSizes<K>;
    constexpr KeyMask mask = S::attention.mask;
    const auto* key = call.operands[1].get<typename K::Key>(positions_of<K>(call));
    const auto* value = call.operands[2].get<typename K::Key>(positions_of<K>(call));
    const std::int32_t* ids = mask_ids<K>(call);
    attend<K>(call, used, [&](const QueryPlace& place) {
        std::int32_t own = 0;
        if constexpr (mask == KeyMask::by_group) {
            own = mask_entry<K>(ids, place, place.variate, place.position);
        }
        // Without a mask, a query sees what is beyond the bound.
        const int variates = mask == KeyMask::none ? S::variates : used.template along<2>();
        return QueryKeys{variates,
                         variates,
                         [&](int i) { return key + row_of<K, 1>(place, i, place.position); },
                         [&](int i) { return value + row_of<K, 2>(place, i, place.position); },
                         [&](int i) { return mask_entry<K>(ids, place, i, place.position); },
                         [=](std::int32_t of_key) { return counts_in_mask<K>(of_key, own); }};
    });
}

template <class K>
__device__ void run_attention(const KernelCall& call, const UsedExtents<K>& used) {
    static_assert(widths_are_contiguous<K>(), "totograph: attention needs heads that are contiguous in memory.");
    using S = AttentionSizes<K>;
    if constexpr (S::is_prefill) {
        run_prefill<K>(call, used);
    } else if constexpr (S::is_over_variates) {
        run_across_variates<K>(call, used);
    } else {
        run_against_cache<K>(call, used);
    }
}

}  // namespace totograph::cuda
