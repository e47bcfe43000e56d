// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/shape.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::detail {

/// Whether every operand walks through an axis and the next one as through one.
constexpr bool is_even(const Kernel& kernel, int axis) {
    const auto outer = static_cast<std::size_t>(axis);
    const Index extent = kernel.iteration[axis + 1];
    bool even = kernel.output_strides[outer] == kernel.output_strides[outer + 1] * extent;
    for (int i = 0; i < kernel.operand_count; ++i) {
        const Strides& strides = kernel.operands.items[i].strides;
        even = even && strides[outer] == strides[outer + 1] * extent;
    }
    return even;
}

/// Drops a loop axis.
constexpr void remove_axis(Kernel& kernel, int axis) {
    const auto drop = [axis](Strides& strides) {
        Index* const stride = strides.items;  // a compiler takes its time for each call of `[]`
        for (int i = axis; i + 1 < max_rank; ++i) {
            stride[i] = stride[i + 1];
        }
        stride[max_rank - 1] = 0;
    };
    for (int i = axis; i + 1 < kernel.iteration.rank; ++i) {
        kernel.iteration[i] = kernel.iteration[i + 1];
    }
    --kernel.iteration.rank;
    kernel.iteration.extents[static_cast<std::size_t>(kernel.iteration.rank)] = 0;
    if (axis < kernel.row_rank) {
        --kernel.row_rank;
    }
    drop(kernel.output_strides);
    for (int i = 0; i < kernel.operand_count; ++i) {
        drop(kernel.operands.items[i].strides);
    }
}

/// Joins neighbouring loop axes that every operand walks through evenly, and drops axes of extent 1.
constexpr void collapse(Kernel& kernel) {
    int axis = 0;
    while (axis < kernel.iteration.rank) {
        const bool is_row = axis < kernel.row_rank;
        if (kernel.iteration[axis] == 1 && kernel.iteration.rank > 1 &&
            (is_row || kernel.iteration.rank - kernel.row_rank > 1)) {
            remove_axis(kernel, axis);
            continue;
        }
        const bool next_is_row = axis + 1 < kernel.row_rank;
        if (axis + 1 < kernel.iteration.rank && is_row == next_is_row && is_even(kernel, axis)) {
            kernel.iteration[axis + 1] *= kernel.iteration[axis];
            remove_axis(kernel, axis);
            continue;
        }
        ++axis;
    }
    // A pointwise kernel runs over rows of one column axis: the innermost.
    if (kernel.kind == KernelKind::pointwise && kernel.row_rank == kernel.iteration.rank && kernel.row_rank > 0) {
        --kernel.row_rank;
    }
}

}  // namespace totograph::detail
