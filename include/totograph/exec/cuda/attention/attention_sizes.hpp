// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention/select.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/kernel.hpp>

// Where the rows of an attention lie.

namespace totograph::cuda {

/// Sizes of an attention; rows are [series, sample, variate, position, width].
template <class K>
struct AttentionSizes {
    static constexpr AttentionDescription attention = K::kernel.attention;
    static constexpr Shape shape = K::kernel.iteration;
    static constexpr auto samples = static_cast<int>(shape[1]);
    static constexpr auto variates = static_cast<int>(shape[2]);
    static constexpr auto positions = static_cast<int>(shape[3]);
    static constexpr auto heads = static_cast<int>(attention.heads);
    static constexpr int heads_of_group = static_cast<int>(attention.heads / attention.kv_heads);
    static constexpr auto head_dim = static_cast<int>(attention.head_dim);
    static constexpr auto value_dim = static_cast<int>(attention.value_dim);
    static constexpr Index queries = shape[0] * shape[1] * shape[2] * shape[3] * heads;
    static constexpr auto scale = static_cast<float>(attention.scale);

    static constexpr bool is_prefill = attention.is_prefill();
    static constexpr bool is_decode = attention.is_decode(shape[3]);
    static constexpr bool queries_are_positions = has_queries_at_positions(attention, shape[3]);
    static constexpr bool is_over_variates = attention.axis == AttentionAxis::variates;
    static constexpr bool has_suffix = attention.has_suffix;
    /// Whether query i stands at key i of the prefix: the mask's entry of that key can be read before it is known how
    /// many keys there are.
    static constexpr bool stands_in_prefix = attention.queries == QueryPlaces::first && !has_suffix;
};

/// How the rows are stored.
template <class K>
inline constexpr AttentionStorage storage_of{.is_aligned = K::is_aligned,
                                             .keys_are_bf16 = std::is_same_v<typename K::Key, BFloat16>};

/// Where the suffix of an attention is, among the operands.
inline constexpr int suffix_key = AttentionDescription::suffix_key_input;
inline constexpr int suffix_value = AttentionDescription::suffix_value_input;
inline constexpr int suffix_length = AttentionDescription::suffix_length_input;

/// Where one head begins in a row of an operand. Grouped queries share a head of keys and values.
template <class K, int which>
__device__ __forceinline__ int head_offset(int head) {
    using S = AttentionSizes<K>;
    constexpr bool is_query = which == 0;
    constexpr bool is_value = S::attention.is_value(which);
    return (is_query ? head : head / S::heads_of_group) * (is_value ? S::value_dim : S::head_dim);
}

/// The factor of the scores.
template <class K>
__device__ __forceinline__ float score_scale(const KernelCall& call) {
    using S = AttentionSizes<K>;
    if constexpr (S::attention.scale_is_data) {
        constexpr int which = S::attention.scale_input();
        return *call.operands[which].template get<float>(positions_of<K>(call));
    } else {
        return S::scale;
    }
}

/// One query's place.
struct QueryPlace {
    int series;
    int sample;
    int variate;
    int position;
    int head;
};

/// How many keys an attention has room for: of its prefix (operand 1), or of its suffix (operand 4).
template <class K, int which>
inline constexpr auto key_capacity =
    static_cast<std::int32_t>(K::kernel.operands[static_cast<std::size_t>(which)].shape[3]);

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
           position * stride(3) + head_offset<K, which>(place.head);
}

template <class K>
__device__ __forceinline__ Offset<K> output_row(const QueryPlace& place) {
    constexpr Strides strides = K::kernel.output_strides;
    return place.series * static_cast<Offset<K>>(strides[0]) + place.sample * static_cast<Offset<K>>(strides[1]) +
           place.variate * static_cast<Offset<K>>(strides[2]) + place.position * static_cast<Offset<K>>(strides[3]) +
           place.head * AttentionSizes<K>::value_dim;
}

/// The entry of a mask for a key; of a suffix's key, `position` counts on from the capacity of the prefix. 0 without a
/// mask.
template <class K>
__device__ __forceinline__ std::int32_t mask_entry(const std::int32_t* ids, const QueryPlace& place, int variate,
                                                   int position) {
    if constexpr (AttentionSizes<K>::attention.mask == KeyMask::none) {
        return 0;
    } else {
        constexpr int which = AttentionSizes<K>::attention.mask_input();
        constexpr Strides strides = K::kernel.operands[which].strides;
        constexpr Shape shape = K::kernel.operands[which].shape;
        return ids[(shape[0] == 1 ? 0 : place.series * static_cast<Offset<K>>(strides[0])) +
                   (shape[1] == 1 ? 0 : variate * static_cast<Offset<K>>(strides[1])) +
                   position * static_cast<Offset<K>>(strides[2])];
    }
}

/// Whether a key with this entry of the mask counts for a query of this group.
template <class K>
__device__ __forceinline__ bool counts_in_mask(std::int32_t entry, std::int32_t group) {
    constexpr KeyMask mask = AttentionSizes<K>::attention.mask;
    return mask == KeyMask::none || (mask == KeyMask::by_key ? entry != 0 : entry == group);
}

/// The ids of a mask; null without one.
template <class K>
__device__ __forceinline__ const std::int32_t* mask_ids(const KernelCall& call) {
    if constexpr (AttentionSizes<K>::attention.mask == KeyMask::none) {
        return nullptr;
    } else {
        constexpr int which = AttentionSizes<K>::attention.mask_input();
        return call.operands[which].template get<std::int32_t>(positions_of<K>(call));
    }
}

/// Whether a query is in use.
template <class K>
__device__ __forceinline__ bool is_used(const UsedExtents<K>& used, const QueryPlace& place) {
    return place.series < used.template along<0>() && place.sample < used.template along<1>() &&
           place.variate < used.template along<2>() && place.position < used.template along<3>();
}

template <class K>
constexpr bool widths_are_contiguous() {
    for (int i = 0; i < K::kernel.operand_count; ++i) {
        const Operand& operand = K::kernel.operands[static_cast<std::size_t>(i)];
        if (operand.shape.rank == 5 && operand.strides[4] != 1) {
            return false;
        }
    }
    return K::kernel.output_strides[4] == 1;
}

}  // namespace totograph::cuda
