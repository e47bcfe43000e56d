// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/attention/attention.hpp>
#include <totograph/exec/cpu/attention/masked_attention.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/operand_access.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/kernel.hpp>

// Attention as steps of a program: which kernel computes one, and how its heads are spread over threads.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace structural_detail {

template <class K>
struct AttentionSizes : RowExtents<K> {
    static constexpr const AttentionDescription& attention = K::kernel.attention;
    static constexpr Index heads = attention.heads;
    static constexpr Index head_dim = attention.head_dim;
    static constexpr Index value_dim = attention.value_dim;
    static constexpr bool is_over_variates = attention.axis == AttentionAxis::variates;
    static constexpr Index suffix_capacity =
        attention.has_suffix ? operand<K>(AttentionDescription::suffix_key_input).shape[3] : 0;
    /// Keys that one query may have in reach.
    static constexpr Index keys = is_over_variates ? RowExtents<K>::variates : operand<K>(1).shape[3] + suffix_capacity;
};

/// One head's part of the rows of queries, keys or values. Keys and values have fewer heads where queries are grouped.
template <class K>
const float* head_rows(const KernelCall& call, std::size_t which, Index series, Index sample, Index variate,
                       Index head) {
    constexpr const AttentionDescription& attention = K::kernel.attention;
    const Index own = which == 0 ? head : attention.kv_head_of(head);
    const Index width = attention.is_value(static_cast<int>(which)) ? attention.value_dim : attention.head_dim;
    return rows_of<K>(call, which, series, sample, variate) + own * width;
}

template <class K>
float* output_head(const KernelCall& call, Index series, Index sample, Index variate, Index head) {
    return output_rows<K>(call, series, sample, variate) + head * K::kernel.attention.value_dim;
}

template <class K>
HeadSize head_size(const KernelCall& call) {
    constexpr const AttentionDescription& attention = K::kernel.attention;
    auto scale = static_cast<float>(attention.scale);
    if constexpr (attention.scale_is_data) {
        scale = *static_cast<const float*>(call.operands[static_cast<std::size_t>(attention.scale_input())]);
    }
    return {attention.head_dim, attention.value_dim, scale};
}

template <class K>
constexpr bool has_contiguous_widths() {
    for (std::size_t i = 0; i < static_cast<std::size_t>(K::kernel.operand_count); ++i) {
        if (operand<K>(i).shape.rank == 5 && stride<K>(i, 4) != 1) {
            return false;
        }
    }
    return true;
}

template <class K>
void run_prefill(const KernelCall& call) noexcept {
    using S = AttentionSizes<K>;
    const UsedExtents used = used_extents<K>(call);
    parallel_for(*call.pool, used.series * used.samples * used.variates * S::heads, [&](Index item, int thread) {
        const Index head = item % S::heads;
        const Index variate = item / S::heads % used.variates;
        const Index sample = item / S::heads / used.variates % used.samples;
        const Index series = item / S::heads / used.variates / used.samples;
        prefill({.query = head_rows<K>(call, 0, series, sample, variate, head),
                 .key = head_rows<K>(call, 1, series, sample, variate, head),
                 .value = head_rows<K>(call, 2, series, sample, variate, head),
                 .out = output_head<K>(call, series, sample, variate, head),
                 .query_stride = stride<K>(0, 3),
                 .key_stride = stride<K>(1, 3),
                 .value_stride = stride<K>(2, 3),
                 .out_stride = K::kernel.output_strides[3],
                 .size = head_size<K>(call),
                 .positions = used.positions,
                 .valid = bounded_position(integer_of<K>(call, 3, series), used.positions)},
                call.scratch + static_cast<std::size_t>(thread) * call.scratch_floats);
    });
}

/// The lengths of a cache, moved inside its bounds and reported; on one thread, for what follows runs on many.
/// @return that of the suffix
template <class K>
Index check_lengths(const KernelCall& call) {
    using S = AttentionSizes<K>;
    for (Index series = 0; series < call.used(K::kernel, 0); ++series) {
        (void)call.bounded(integer_of<K>(call, AttentionDescription::length_input, series), operand<K>(1).shape[3]);
    }
    if constexpr (S::attention.has_suffix) {
        return call.bounded(integer_of<K>(call, AttentionDescription::suffix_length_input, 0), S::suffix_capacity);
    } else {
        return 0;
    }
}

template <class K>
Index prefix_length(const KernelCall& call, Index series) {
    return bounded_position(integer_of<K>(call, AttentionDescription::length_input, series), operand<K>(1).shape[3]);
}

/// Queries that one work item of a shared prefix takes: few enough to spread, many enough to share what is prepared.
inline constexpr Index queries_per_item = 64;

template <class K>
void run_decode(const KernelCall& call) noexcept {
    using S = AttentionSizes<K>;
    constexpr bool has_suffix = S::attention.has_suffix;
    constexpr Index group = S::heads / S::attention.kv_heads;
    // What shares keys runs together: samples over a shared prefix, or else the query heads of a group.
    constexpr bool takes_group = S::samples == 1 && group > 1;
    constexpr bool shared = operand<K>(1).shape[1] == 1;
    const UsedExtents used = used_extents<K>(call);
    const Index together = shared ? std::min(used.samples, queries_per_item) : 1;
    const Index blocks = divide_rounding_up(used.samples, together);
    constexpr Index items = takes_group ? S::attention.kv_heads : S::heads;
    constexpr std::size_t own_key = has_suffix ? AttentionDescription::suffix_key_input : 1;
    constexpr std::size_t own_value = has_suffix ? AttentionDescription::suffix_value_input : 2;
    const Index suffix_length = check_lengths<K>(call);
    parallel_for(*call.pool, used.series * used.variates * items * blocks, [&](Index item, int thread) {
        const Index head = item % items * (takes_group ? group : 1);
        const Index variate = item / items % used.variates;
        const Index first = item / items / used.variates % blocks * together;
        const Index series = item / items / used.variates / blocks;
        decode({.query = head_rows<K>(call, 0, series, first, variate, head),
                .prefix_key = head_rows<K>(call, 1, series, first, variate, head),
                .prefix_value = head_rows<K>(call, 2, series, first, variate, head),
                .suffix_key = has_suffix ? head_rows<K>(call, own_key, series, first, variate, head) : nullptr,
                .suffix_value = has_suffix ? head_rows<K>(call, own_value, series, first, variate, head) : nullptr,
                .out = output_head<K>(call, series, first, variate, head),
                .query_stride = takes_group ? S::head_dim : stride<K>(0, 1),
                .prefix_key_stride = stride<K>(1, 3),
                .prefix_value_stride = stride<K>(2, 3),
                .suffix_key_query_stride = takes_group ? 0 : stride<K>(own_key, 1),
                .suffix_value_query_stride = takes_group ? 0 : stride<K>(own_value, 1),
                .suffix_key_stride = stride<K>(own_key, 3),
                .suffix_value_stride = stride<K>(own_value, 3),
                .out_stride = takes_group ? S::value_dim : K::kernel.output_strides[1],
                .size = head_size<K>(call),
                .queries = takes_group ? group : std::min(together, used.samples - first),
                .prefix_length = prefix_length<K>(call, series),
                .suffix_length = suffix_length},
               call.scratch + static_cast<std::size_t>(thread) * call.scratch_floats);
    });
}

/// The ids of a mask for the keys of one series and variate, or of one series and position; null without a mask.
template <class K>
const std::int32_t* mask_of(const KernelCall& call, Index series, Index other) {
    constexpr const AttentionDescription& attention = K::kernel.attention;
    if constexpr (attention.mask == KeyMask::none) {
        return nullptr;
    } else {
        constexpr auto which = static_cast<std::size_t>(attention.mask_input());
        constexpr std::size_t axis = attention.axis == AttentionAxis::variates ? 2 : 1;
        return static_cast<const std::int32_t*>(call.operands[which]) + series * repeating_stride<K>(which, 0) +
               other * repeating_stride<K>(which, axis);
    }
}

/// From one key's entry of a mask to the next's.
template <class K>
constexpr Index mask_stride() {
    constexpr const AttentionDescription& attention = K::kernel.attention;
    if constexpr (attention.mask == KeyMask::none) {
        return 0;
    } else {
        return stride<K>(static_cast<std::size_t>(attention.mask_input()),
                         attention.axis == AttentionAxis::variates ? 1 : 2);
    }
}

template <class K>
void run_across_variates(const KernelCall& call) noexcept {
    using S = AttentionSizes<K>;
    const UsedExtents used = used_extents<K>(call);
    // Without a mask a variate sees all others, those that nobody asks for as well.
    const Index variates = S::attention.mask == KeyMask::none ? Index{S::variates} : used.variates;
    parallel_for(*call.pool, used.series * used.samples * used.positions * S::heads, [&](Index item, int thread) {
        const Index head = item % S::heads;
        const Index position = item / S::heads % used.positions;
        const Index sample = item / S::heads / used.positions % used.samples;
        const Index series = item / S::heads / used.positions / used.samples;
        across_variates({.query = head_rows<K>(call, 0, series, sample, 0, head) + position * stride<K>(0, 3),
                         .key = head_rows<K>(call, 1, series, sample, 0, head) + position * stride<K>(1, 3),
                         .value = head_rows<K>(call, 2, series, sample, 0, head) + position * stride<K>(2, 3),
                         .group = mask_of<K>(call, series, position),
                         .out = output_head<K>(call, series, sample, 0, head) + position * K::kernel.output_strides[3],
                         .query_stride = stride<K>(0, 2),
                         .key_stride = stride<K>(1, 2),
                         .value_stride = stride<K>(2, 2),
                         .group_stride = mask_stride<K>(),
                         .out_stride = K::kernel.output_strides[2],
                         .size = head_size<K>(call),
                         .variates = variates,
                         .valid = variates},
                        call.scratch + static_cast<std::size_t>(thread) * call.scratch_floats);
    });
}

/// The keys and values of one head, of a prefix (operands 1 and 2) or of a suffix.
template <class K>
KeyRows key_rows(const KernelCall& call, std::size_t key, Index series, Index sample, Index variate, Index position,
                 Index head, Index count) {
    constexpr std::size_t axis = AttentionSizes<K>::is_over_variates ? 2 : 3;
    const auto offset = [&](std::size_t which) { return position * stride<K>(which, 3); };
    return {.key = head_rows<K>(call, key, series, sample, variate, head) + offset(key),
            .value = head_rows<K>(call, key + 1, series, sample, variate, head) + offset(key + 1),
            .key_stride = stride<K>(key, axis),
            .value_stride = stride<K>(key + 1, axis),
            .count = count};
}

/// Whatever the others do not: a call for each head of each row of queries along the axis.
template <class K>
void run_masked(const KernelCall& call) noexcept {
    using S = AttentionSizes<K>;
    constexpr std::size_t axis = S::is_over_variates ? 2 : 3;
    const UsedExtents used = used_extents<K>(call);
    const Index others = S::is_over_variates ? used.positions : used.variates;
    const Index variates = S::attention.mask == KeyMask::none ? Index{S::variates} : used.variates;
    const Index queries = S::is_over_variates ? variates : used.positions;
    Index suffix_length = 0;
    if constexpr (!S::is_over_variates) {
        suffix_length = check_lengths<K>(call);
    }
    parallel_for(*call.pool, used.series * used.samples * others * S::heads, [&](Index item, int thread) {
        const Index head = item % S::heads;
        const Index other = item / S::heads % others;
        const Index sample = item / S::heads / others % used.samples;
        const Index series = item / S::heads / others / used.samples;
        const Index variate = S::is_over_variates ? 0 : other;
        const Index position = S::is_over_variates ? other : 0;
        Index prefix = queries;
        if constexpr (!S::is_over_variates) {
            prefix = prefix_length<K>(call, series);
        }
        const bool stands_first = S::attention.queries == QueryPlaces::first;
        MaskedArguments arguments{
            .query = head_rows<K>(call, 0, series, sample, variate, head) + position * stride<K>(0, 3),
            .out = output_head<K>(call, series, sample, variate, head) + position * K::kernel.output_strides[3],
            .query_stride = stride<K>(0, axis),
            .out_stride = K::kernel.output_strides[axis],
            .queries = queries,
            .first_place = stands_first ? 0 : prefix + suffix_length - (S::is_over_variates ? queries : S::positions),
            .keys = {key_rows<K>(call, 1, series, sample, variate, position, head, prefix)},
            .mask_stride = mask_stride<K>(),
            .mask = S::attention.mask,
            .is_causal = S::attention.is_causal,
            .size = head_size<K>(call)};
        arguments.keys[0].mask = mask_of<K>(call, series, other);
        if constexpr (S::attention.has_suffix) {
            arguments.keys[1] = key_rows<K>(call, AttentionDescription::suffix_key_input, series, sample, variate,
                                            position, head, suffix_length);
            if constexpr (S::attention.mask != KeyMask::none) {
                arguments.keys[1].mask = arguments.keys[0].mask + operand<K>(1).shape[3] * mask_stride<K>();
            }
        }
        masked_attention(arguments, call.scratch + static_cast<std::size_t>(thread) * call.scratch_floats);
    });
}

template <class K>
void run_attention(const Kernel&, const KernelCall& call) noexcept {
    static_assert(has_contiguous_widths<K>(), "totograph: attention needs heads that are contiguous in memory.");
    using S = AttentionSizes<K>;
    if constexpr (S::attention.is_prefill()) {
        run_prefill<K>(call);
    } else if constexpr (S::attention.is_decode(S::positions)) {
        run_decode<K>(call);
    } else if constexpr (S::attention.is_across_variates()) {
        run_across_variates<K>(call);
    } else {
        run_masked<K>(call);
    }
}

/// Scratch that an attention needs for each thread.
template <class K>
constexpr std::size_t attention_scratch_floats() {
    using S = AttentionSizes<K>;
    if constexpr (S::attention.is_prefill()) {
        return prefill_scratch_floats(S::positions, S::head_dim, S::value_dim);
    } else if constexpr (S::attention.is_decode(S::positions)) {
        return decode_scratch_floats(operand<K>(1).shape[3], S::suffix_capacity, S::head_dim, S::value_dim);
    } else if constexpr (S::attention.is_across_variates()) {
        return across_variates_scratch_floats(S::variates, S::head_dim, S::value_dim);
    } else {
        return masked_attention_scratch_floats(S::keys, S::head_dim, S::value_dim);
    }
}

}  // namespace structural_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
