// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <totograph/core/shape.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// What kernels of a plan are like, `AnyKernel` is a `BasicKernel`. Nothing here needs CUDA.

namespace totograph::cuda {

/// Whether a chain needs neighbouring pairs.
template <int room>
constexpr bool rotates_pairs(const BasicChain<room>& chain) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
        if (chain.instructions[i].op == Op::rotate_pairs) {
            return true;
        }
    }
    return false;
}

/// A bit for each operand of a kernel's chain that is the same along all axes from `first` to before `end`.
template <class AnyKernel>
constexpr unsigned operands_that_repeat(const AnyKernel& kernel, int first, int end) {
    unsigned bits = 0;
    for (int i = 0; i < kernel.operand_count; ++i) {
        bool is_same = true;
        for (int axis = first; axis < end; ++axis) {
            const bool moves =
                kernel.operands[static_cast<std::size_t>(i)].strides[static_cast<std::size_t>(axis)] != 0;
            is_same = is_same && (!moves || kernel.iteration[axis] == 1);
        }
        bits |= is_same ? 1U << i : 0U;
    }
    return bits;
}

/// Whether everything that a kernel touches is near enough for offsets of 32 bits.
template <class AnyKernel>
constexpr bool fits_in_32_bits(const AnyKernel& kernel) {
    const auto reach = [](const Shape& shape, const Strides& strides) {
        Index total = 1;
        for (int axis = 0; axis < shape.rank; ++axis) {
            total += (shape[axis] - 1) * strides[static_cast<std::size_t>(axis)];
        }
        return total;
    };
    Index largest = std::max(kernel.iteration.size(), reach(kernel.iteration, kernel.output_strides));
    for (int i = 0; i < kernel.operand_count; ++i) {
        const Operand& operand = kernel.operands[static_cast<std::size_t>(i)];
        largest = std::max(largest, reach(operand.shape.rank == 0 ? kernel.iteration : operand.shape, operand.strides));
    }
    return largest < std::numeric_limits<std::int32_t>::max() / 2;
}

}  // namespace totograph::cuda
