// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/graph/kernel.hpp>

// How kernels of ops that are not chains find their operands.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace structural_detail {

template <class K>
constexpr const Operand& operand(std::size_t which) {
    return K::kernel.operands[which];
}

template <class K>
constexpr Index stride(std::size_t which, std::size_t axis) {
    return operand<K>(which).strides[axis];
}

/// A stride that repeats an axis of extent 1.
template <class K>
constexpr Index repeating_stride(std::size_t which, std::size_t axis) {
    return operand<K>(which).shape[static_cast<int>(axis)] == 1 ? 0 : stride<K>(which, axis);
}

/// An i32 operand with one element, or one a series.
template <class K>
Index integer_of(const KernelCall& call, std::size_t which, Index series) {
    const auto* values = static_cast<const std::int32_t*>(call.operands[which]);
    return values[operand<K>(which).shape.size() == 1 ? 0 : series * stride<K>(which, 0)];
}

/// The extents of a kernel's rows, `[batch, samples, variates, positions, width]`.
template <class K>
struct RowExtents {
    static constexpr const Shape& shape = K::kernel.iteration;
    static constexpr Index series = shape[0];
    static constexpr Index samples = shape[1];
    static constexpr Index variates = shape[2];
    static constexpr Index positions = shape[3];
};

/// What is in use of them.
struct UsedExtents {
    Index series;
    Index samples;
    Index variates;
    Index positions;

    [[nodiscard]] Index rows() const noexcept { return series * samples * variates * positions; }
};

template <class K>
UsedExtents used_extents(const KernelCall& call) noexcept {
    return {call.used(K::kernel, 0), call.used(K::kernel, 1), call.used(K::kernel, 2), call.used(K::kernel, 3)};
}

/// The rows of an operand or of the result that one series, sample and variate has; one sample may serve all.
template <class K>
const float* rows_of(const KernelCall& call, std::size_t which, Index series, Index sample, Index variate) {
    return static_cast<const float*>(call.operands[which]) + series * stride<K>(which, 0) +
           sample * repeating_stride<K>(which, 1) + variate * stride<K>(which, 2);
}

template <class K>
float* output_rows(const KernelCall& call, Index series, Index sample, Index variate) {
    return static_cast<float*>(call.output) + series * K::kernel.output_strides[0] +
           sample * K::kernel.output_strides[1] + variate * K::kernel.output_strides[2];
}

}  // namespace structural_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
