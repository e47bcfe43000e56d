// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include <totograph/core/array.hpp>

namespace totograph {

/// Extents, offsets and strides, counted in elements.
using Index = std::int64_t;

/// The largest rank of a tensor in a graph.
inline constexpr int max_rank = 6;
/// The most elements of a tensor in a graph: more than a machine has memory for, so that sums of sizes do not overflow.
inline constexpr Index most_elements = Index{1} << 48;

/// A shape as a plain value, row-major: the last axis is contiguous. A list of more than `max_rank` extents gives a
/// shape of that rank that holds the first ones alone; recorders refuse it.
struct Shape {
    Array<Index, max_rank> extents{};
    int rank = 0;

    constexpr Shape() = default;
    /// Extents from the outermost axis to the innermost.
    constexpr Shape(std::initializer_list<Index> list) {
        for (const Index extent : list) {
            if (rank < max_rank) {
                extents.items[rank] = extent;
            }
            ++rank;
        }
    }

    /// The extent of an axis; negative axes count from the end.
    [[nodiscard]] constexpr Index operator[](int axis) const { return extents.items[axis < 0 ? axis + rank : axis]; }
    [[nodiscard]] constexpr Index& operator[](int axis) { return extents.items[axis < 0 ? axis + rank : axis]; }

    /// The number of elements: the product of the extents, 1 for a scalar.
    [[nodiscard]] constexpr Index size() const {
        Index product = 1;
        const Index* extent = extents.items;
        for (int axis = 0; axis < rank; ++axis) {
            product *= extent[axis];
        }
        return product;
    }

    /// The number of rows: the product of all extents but the last.
    [[nodiscard]] constexpr Index rows() const { return rank == 0 ? 1 : size() / (*this)[-1]; }

    friend constexpr bool operator==(const Shape& a, const Shape& b) {
        if (a.rank != b.rank) {
            return false;
        }
        const Index* left = a.extents.items;
        const Index* right = b.extents.items;
        for (int axis = 0; axis < a.rank; ++axis) {
            if (left[axis] != right[axis]) {
                return false;
            }
        }
        return true;
    }
};

/// Strides of a tensor, one for each axis of its shape; 0 repeats a broadcast axis.
using Strides = Array<Index, max_rank>;

/// The strides of a contiguous row-major tensor.
constexpr Strides contiguous_strides(const Shape& shape) {
    Strides strides{};
    Index* const stride = strides.items;
    const Index* const extent = shape.extents.items;
    Index step = 1;
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
        stride[axis] = step;
        step *= extent[axis];
    }
    return strides;
}

/// The shape that two operands broadcast to (axes align at the end, an extent of 1 repeats); rank -1 when they do not.
constexpr Shape broadcast(const Shape& a, const Shape& b) {
    Shape result;
    result.rank = a.rank > b.rank ? a.rank : b.rank;
    for (int back = 1; back <= result.rank; ++back) {
        const Index left = back <= a.rank ? a.extents.items[a.rank - back] : 1;
        const Index right = back <= b.rank ? b.extents.items[b.rank - back] : 1;
        if (left != right && left != 1 && right != 1) {
            result.rank = -1;
            return result;
        }
        result.extents.items[result.rank - back] = left == 1 ? right : left;
    }
    return result;
}

/// The shape with one axis (negative counts from the end) replaced; unchanged when it has no such axis.
constexpr Shape with_axis(Shape shape, int axis, Index extent) {
    const int front = axis < 0 ? axis + shape.rank : axis;
    if (front >= 0 && front < shape.rank) {
        shape[front] = extent;
    }
    return shape;
}

/// The shape with an axis appended at the end. Beyond `max_rank` the rank alone grows.
constexpr Shape with_last(Shape shape, Index extent) {
    if (shape.rank < max_rank) {
        shape.extents.items[shape.rank] = extent;
    }
    ++shape.rank;
    return shape;
}

/// The shape as text, like `[1, 7, 64, 768]`.
std::string to_string(const Shape& shape);

/// value / divisor, rounded up.
constexpr Index divide_rounding_up(Index value, Index divisor) {
    return (value + divisor - 1) / divisor;
}

/// The smallest multiple that is not below value.
constexpr Index round_up(Index value, Index multiple) {
    return divide_rounding_up(value, multiple) * multiple;
}

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/core/impl/shape.hpp>
#endif
