// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/kernel_facts.hpp>
#include <totograph/graph/kernel.hpp>

// Where the elements of a kernel's tensors lie.

namespace totograph::cuda {

/// 32-bit offsets where everything that a kernel touches is near enough: 64-bit arithmetic is several instructions.
template <class K>
using Offset = std::conditional_t<fits_in_32_bits(K::kernel), std::int32_t, std::int64_t>;

/// The place of an element: its index along each axis of a shape.
template <class K, int rank>
struct Place {
    Offset<K> at[rank == 0 ? 1 : rank];
};

/// Splits the number of an element into indices of `Extents::shape`.
template <class K, class Of>
__device__ __forceinline__ Place<K, Of::shape.rank> place_of(Offset<K> element) {
    Place<K, Of::shape.rank> place{};
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((place.at[Of::shape.rank - 1 - static_cast<int>(i)] =
              element % static_cast<Offset<K>>(Of::shape.extents[static_cast<std::size_t>(Of::shape.rank) - 1 - i]),
          element /= static_cast<Offset<K>>(Of::shape.extents[static_cast<std::size_t>(Of::shape.rank) - 1 - i])),
         ...);
    }
    (std::make_index_sequence<static_cast<std::size_t>(Of::shape.rank)>());
    return place;
}

template <class K>
struct IterationOf {
    static constexpr Shape shape = K::kernel.iteration;
};
/// The rows of a kernel alone.
template <class K>
struct RowsOf {
    static constexpr Shape shape = [] {
        Shape rows = K::kernel.iteration;
        rows.rank = K::kernel.row_rank;
        return rows;
    }();
};
/// The columns of a kernel alone.
template <class K>
struct ColumnsOf {
    static constexpr Shape shape = [] {
        Shape columns;
        columns.rank = K::kernel.iteration.rank - K::kernel.row_rank;
        for (int axis = 0; axis < columns.rank; ++axis) {
            columns.extents[static_cast<std::size_t>(axis)] = K::kernel.iteration[K::kernel.row_rank + axis];
        }
        return columns;
    }();
};

/// The strides of a tensor as a type.
template <class K, int which>
struct StridesOfOperand {
    static constexpr Strides strides = K::kernel.operands[static_cast<std::size_t>(which)].strides;
};
template <class K>
struct StridesOfOutput {
    static constexpr Strides strides = K::kernel.output_strides;
};

/// The stride along an axis, a constant of its own: device code cannot read the strides at run time.
template <class K, class With, std::size_t axis>
inline constexpr auto stride_along = static_cast<Offset<K>>(With::strides[axis]);

/// The offset of a place, for strides that start at `first_axis`.
template <class K, class With, int first_axis = 0, int rank>
__device__ __forceinline__ Offset<K> offset_of(const Place<K, rank>& place) {
    constexpr auto first = static_cast<std::size_t>(first_axis);
    return [&]<std::size_t... axis>(std::index_sequence<axis...>)->Offset<K> {
        return (
            (stride_along<K, With, first + axis> == 0 ? 0 : place.at[axis] * stride_along<K, With, first + axis>)+... +
            0);
    }
    (std::make_index_sequence<static_cast<std::size_t>(rank)>());
}

}  // namespace totograph::cuda
