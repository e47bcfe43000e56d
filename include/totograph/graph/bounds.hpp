// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/core/array.hpp>
#include <totograph/core/shape.hpp>

namespace totograph {

/// For each axis of a tensor, which bound it has: 0 for none, n for number n - 1 of the state of bounds
/// (`StateUse::bounds`). Nobody reads what lies from the bound on along the axis, so nobody need compute it.
using AxisBounds = Array<std::int8_t, max_rank>;

/// The bounds of a kernel's loop.
struct LoopBounds {
    Shape axes;          ///< Of the loop, before neighbours were joined; of rank 0 where nothing is bounded.
    int row_rank = 0;    ///< How many of them make its rows.
    AxisBounds bound{};  ///< Of each axis.

    friend constexpr bool operator==(const LoopBounds&, const LoopBounds&) = default;

    [[nodiscard]] constexpr bool any() const { return axes.rank > 0; }
};

/// The bounds of a loop that makes a tensor, along the axes of equal extents.
/// @param row_rank  how many axes of the loop make its rows
/// @param bounds    of the tensor
constexpr LoopBounds loop_bounds(const Shape& loop, int row_rank, const Shape& shape, const AxisBounds& bounds) {
    LoopBounds result;
    bool any = false;
    for (int axis = 0; axis < shape.rank && axis < loop.rank; ++axis) {
        const auto place = static_cast<std::size_t>(axis);
        if (loop[axis] == shape[axis] && shape[axis] > 1 && bounds[place] > 0) {
            result.bound[place] = bounds[place];
            any = true;
        }
    }
    if (any) {
        result.axes = loop;
        result.row_rank = row_rank;
    }
    return result;
}

/// How many indices of an axis are in use.
/// @param extent  of the axis
/// @param bound   its `AxisBounds` entry
/// @param values  the state of bounds; null in a program that has none. A value below 1 bounds nothing.
constexpr Index used_extent(Index extent, std::int8_t bound, const std::int32_t* values) {
    if (bound <= 0 || values == nullptr) {
        return extent;
    }
    const Index value = values[bound - 1];
    return value < 1 || value > extent ? extent : value;
}

}  // namespace totograph
