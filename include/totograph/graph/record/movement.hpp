// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <limits>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/record/tensor.hpp>

namespace totograph {

/// The same elements under another shape of the same size.
constexpr Tensor reshape(Tensor x, const Shape& shape) {
    if (!x.recorder().is_usable(shape, Op::reshape)) {
        return x;
    }
    if (shape.size() != x.shape().size()) {
        x.recorder().fail(ModelErrorKind::reshape_changes_size)
            << "reshape: from " << x.shape() << " (" << x.shape().size() << " elements) to " << shape << " ("
            << shape.size() << " elements)";
        return x;
    }
    return x.recorder().add(Op::reshape, x.dtype(), shape, {x});
}

/// Indices `begin`, `begin + step`, ... of an axis, `count` of them.
constexpr Tensor slice(Tensor x, int axis, Index begin, Index count, Index step = 1) {
    const int front = x.recorder().axis_of(x, axis);
    if (count < 1 || step < 1) {
        x.recorder().fail(ModelErrorKind::slice_out_of_range)
            << "slice: " << count << " indices in steps of " << step << " of axis " << Index{front} << " of shape "
            << x.shape() << "; both must be at least 1";
        return x;
    }
    constexpr Index largest = std::numeric_limits<Index>::max();
    const bool overflows = count - 1 > (largest - std::max(begin, Index{0})) / step;
    const Index last = overflows ? largest : begin + (count - 1) * step;
    if (begin < 0 || last >= x.extent(front)) {
        x.recorder().fail(ModelErrorKind::slice_out_of_range)
            << "slice: indices " << begin << " to " << last << " of axis " << Index{front} << " of shape " << x.shape();
        return x;
    }
    return x.recorder().add(Op::slice, x.dtype(), with_axis(x.shape(), front, count), {x}, {front, begin, step});
}

/// Axes in another order: axis i of the result is axis `axes[i]` of x.
constexpr Tensor permute(Tensor x, std::initializer_list<Index> axes) {
    Shape shape;
    std::array<bool, max_rank> is_named{};
    bool names_each_once = axes.size() == static_cast<std::size_t>(x.shape().rank);
    for (const Index axis : axes) {
        names_each_once =
            names_each_once && axis >= 0 && axis < x.shape().rank && !is_named[static_cast<std::size_t>(axis)];
        if (names_each_once) {
            is_named[static_cast<std::size_t>(axis)] = true;
            shape = with_last(shape, x.extent(static_cast<int>(axis)));
        }
    }
    if (!names_each_once) {
        x.recorder().fail(ModelErrorKind::axis_out_of_range)
            << "permute: the axes given do not name each axis of shape " << x.shape() << " once";
        return x;
    }
    return x.recorder().add(Op::permute, x.dtype(), shape, {x}, axes);
}

/// Repeats axes of extent 1 (and prepends axes) to reach `shape`.
constexpr Tensor expand(Tensor x, const Shape& shape) {
    if (!x.recorder().is_usable(shape, Op::expand)) {
        return x;
    }
    if (!(broadcast(x.shape(), shape) == shape)) {
        x.recorder().fail(ModelErrorKind::shapes_do_not_broadcast) << "expand: from " << x.shape() << " to " << shape;
        return x;
    }
    return x.recorder().add(Op::expand, x.dtype(), shape, {x});
}

/// a, then b, along an axis.
constexpr Tensor concatenate(Tensor a, Tensor b, int axis) {
    const int front = a.recorder().axis_of(a, axis);
    if (!(with_axis(b.shape(), front, 1) == with_axis(a.shape(), front, 1))) {
        a.recorder().fail(ModelErrorKind::shapes_do_not_broadcast)
            << "concatenate: " << a.shape() << " and " << b.shape() << " along axis " << Index{front};
        return a;
    }
    const Shape shape = with_axis(a.shape(), front, a.extent(front) + b.extent(front));
    if (a.dtype() != b.dtype()) {
        a.recorder().fail(ModelErrorKind::dtypes_differ)
            << "concatenate: " << name(a.dtype()) << " and " << name(b.dtype());
    }
    return a.recorder().add(Op::concatenate, a.dtype(), shape, {a, b}, {front});
}

/// One index of an axis, read from device data: `position` has one element, or one a series (axis 0), if the
/// axis is not theirs. The axis stays, with extent 1. A position outside of the axis is an `Error` of the executor
/// (`position_out_of_bounds`).
constexpr Tensor take(Tensor x, int axis, Tensor position) {
    const int front = x.recorder().axis_of(x, axis);
    x.recorder().check_position(position, x, "take", front);
    return x.recorder().add(Op::take, x.dtype(), with_axis(x.shape(), front, 1), {x, position}, {front});
}

/// Rows of a table, `[rows, width]` f32, by ids, i32 of any shape: `[..., width]`. An id that names no row gives NaN.
constexpr Tensor embedding(Tensor table, Tensor ids) {
    if (table.dtype() != DType::f32 || ids.dtype() != DType::i32) {
        table.recorder().fail(ModelErrorKind::dtypes_differ)
            << "embedding: the table is " << name(table.dtype()) << ", the ids " << name(ids.dtype())
            << "; they must be f32 and i32";
        return table;
    }
    if (table.shape().rank != 2) {
        table.recorder().fail(ModelErrorKind::axis_out_of_range)
            << "embedding: the table must be [rows, width], found " << table.shape();
        return table;
    }
    return table.recorder().add(Op::embedding, DType::f32, with_last(ids.shape(), table.extent(1)), {table, ids});
}

}  // namespace totograph
