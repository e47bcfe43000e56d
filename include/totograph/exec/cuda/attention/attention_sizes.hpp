// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/graph/kernel.hpp>

// Where the rows of an attention lie.

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

}  // namespace totograph::cuda
