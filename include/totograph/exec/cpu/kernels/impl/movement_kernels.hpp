// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/kernels/movement_kernels.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <totograph/core/dtype.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/moments_of_row.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/exec/cpu/vector.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/passes/location.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace movement_detail {

using AxisIndex = std::array<Index, max_rank>;

/// An i32 operand with one element, or one a series.
inline Index integer_of(const Kernel& kernel, const KernelCall& call, std::size_t which, Index series) {
    const Operand& operand = kernel.operands[which];
    const auto* values = static_cast<const std::int32_t*>(call.operands[which]);
    return values[operand.shape.size() == 1 ? 0 : series * operand.strides[0]];
}

/// Calls `visit(index)` for each row of a shape: all axes but the last, whose index is 0.
template <class Visit>
void for_each_row(const Shape& shape, Visit&& visit) {
    AxisIndex index{};
    const Index rows = shape.rank == 0 ? 1 : shape.rows();
    for (Index row = 0; row < rows; ++row) {
        visit(index);
        for (int axis = shape.rank - 2; axis >= 0; --axis) {
            auto& at = index[static_cast<std::size_t>(axis)];
            if (++at < shape[axis]) {
                break;
            }
            at = 0;
        }
    }
}

/// The same on all threads, in no fixed order.
template <class Visit>
void parallel_for_each_row(const KernelCall& call, const Shape& shape, Visit&& visit) {
    const Index columns = shape.rank == 0 ? 1 : shape[-1];
    const Index rows = shape.size() / columns;
    const Index rows_per_chunk = std::max<Index>(1, elements_per_chunk / columns);
    parallel_for(*call.pool, divide_rounding_up(rows, rows_per_chunk), [&](Index chunk, int) {
        for (Index row = chunk * rows_per_chunk; row < std::min(rows, (chunk + 1) * rows_per_chunk); ++row) {
            AxisIndex index{};
            Index left = row;
            for (int axis = shape.rank - 2; axis >= 0; --axis) {
                index[static_cast<std::size_t>(axis)] = left % shape[axis];
                left /= shape[axis];
            }
            visit(index);
        }
    });
}

inline Index offset_of(const AxisIndex& index, const Strides& strides, int rank) {
    Index offset = 0;
    for (std::size_t axis = 0; axis + 1 < static_cast<std::size_t>(rank); ++axis) {
        offset += index[axis] * strides[axis];
    }
    return offset;
}

inline Index last_stride(const Strides& strides, int rank) {
    return rank == 0 ? 0 : strides[static_cast<std::size_t>(rank - 1)];
}

/// What is in use of a loop: of all axes but the last.
inline Shape used_rows(const Kernel& kernel, const KernelCall& call, Shape shape) {
    for (int axis = 0; axis + 1 < shape.rank; ++axis) {
        shape[axis] = shape[axis] == kernel.iteration[axis] ? call.used(kernel, axis) : shape[axis];
    }
    return shape;
}

/// Elements of one row, wherever they are.
struct Row {
    const void* from;
    Index from_offset;
    Index from_stride;
    void* to;
    Index to_offset;
    Index to_stride;
    Index count;
};

inline void copy(const Row& row, DType dtype) {
    const std::size_t size = size_in_bytes(dtype);
    const auto* from = static_cast<const std::byte*>(row.from) + row.from_offset * static_cast<Index>(size);
    auto* to = static_cast<std::byte*>(row.to) + row.to_offset * static_cast<Index>(size);
    if (row.from_stride == 1 && row.to_stride == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(row.count) * size);
        return;
    }
    for (Index i = 0; i < row.count; ++i) {
        std::memcpy(to + i * row.to_stride * static_cast<Index>(size),
                    from + i * row.from_stride * static_cast<Index>(size), size);
    }
}

TOTOGRAPH_INLINE void take(const Kernel& kernel, const KernelCall& call) noexcept {
    const Shape& shape = kernel.iteration;
    Strides strides = kernel.operands[0].strides;
    const auto axis = static_cast<std::size_t>(kernel.attributes[0]);
    const Index step = strides[axis];
    strides[axis] = 0;
    const Index last = kernel.operands[0].shape[static_cast<int>(axis)] - 1;
    for_each_row(used_rows(kernel, call, shape), [&](const AxisIndex& index) {
        const Index position = call.bounded(integer_of(kernel, call, 1, index[0]), last);
        copy({call.operands[0], offset_of(index, strides, shape.rank) + step * position,
              last_stride(strides, shape.rank), call.output, offset_of(index, kernel.output_strides, shape.rank),
              last_stride(kernel.output_strides, shape.rank), shape[-1]},
             kernel.dtype);
    });
}

TOTOGRAPH_INLINE void concatenate(const Kernel& kernel, const KernelCall& call) noexcept {
    const auto axis = static_cast<int>(kernel.attributes[0]);
    Index begin = 0;
    for (std::size_t which = 0; which < static_cast<std::size_t>(kernel.operand_count); ++which) {
        const Operand& operand = kernel.operands[which];
        const int rank = operand.shape.rank;
        for_each_row(used_rows(kernel, call, operand.shape), [&](const AxisIndex& index) {
            copy({call.operands[which], offset_of(index, operand.strides, rank), last_stride(operand.strides, rank),
                  call.output,
                  begin * kernel.output_strides[static_cast<std::size_t>(axis)] +
                      offset_of(index, kernel.output_strides, rank),
                  last_stride(kernel.output_strides, rank), operand.shape[-1]},
                 kernel.dtype);
        });
        begin += operand.shape[axis];
    }
}

TOTOGRAPH_INLINE void store(const Kernel& kernel, const KernelCall& call) noexcept {
    const Shape& shape = kernel.iteration;
    const Strides strides =
        totograph::detail::broadcast_strides(kernel.operands[0].shape, kernel.operands[0].strides, shape);
    const Index step = shape.rank == 0 ? 0 : kernel.output_strides[static_cast<std::size_t>(kernel.attributes[0])];
    for_each_row(used_rows(kernel, call, shape), [&](const AxisIndex& index) {
        const Index position = kernel.operand_count == 2
                                   ? call.bounded(integer_of(kernel, call, 1, index[0]), kernel.attributes[2])
                                   : kernel.attributes[1];
        copy({call.operands[0], offset_of(index, strides, shape.rank), last_stride(strides, shape.rank), call.output,
              offset_of(index, kernel.output_strides, shape.rank) + position * step,
              last_stride(kernel.output_strides, shape.rank), shape.rank == 0 ? 1 : shape[-1]},
             kernel.dtype);
    });
}

template <class Element>
void cumsum_of(const Kernel& kernel, const KernelCall& call) noexcept {
    const Shape& shape = kernel.iteration;
    const Index step = last_stride(kernel.operands[0].strides, shape.rank);
    parallel_for_each_row(call, used_rows(kernel, call, shape), [&](const AxisIndex& index) {
        const Element* in =
            static_cast<const Element*>(call.operands[0]) + offset_of(index, kernel.operands[0].strides, shape.rank);
        Element* out = static_cast<Element*>(call.output) + offset_of(index, kernel.output_strides, shape.rank);
        double total = 0;
        for (Index column = 0; column < shape[-1]; ++column) {
            total += static_cast<double>(in[column * step]);
            out[column] = static_cast<Element>(total);
        }
    });
}

TOTOGRAPH_INLINE void cumsum(const Kernel& kernel, const KernelCall& call) noexcept {
    return kernel.dtype == DType::f64 ? cumsum_of<double>(kernel, call) : cumsum_of<float>(kernel, call);
}

TOTOGRAPH_INLINE void running_moments(const Kernel& kernel, const KernelCall& call) noexcept {
    const int rows = kernel.iteration.rank - 2;  // axes
    Shape shape = kernel.iteration;
    shape.rank = rows + 1;
    shape[rows] = kernel.operands[0].shape[-1];  // what a row costs
    for (int axis = 0; axis < rows; ++axis) {
        shape[axis] = call.used(kernel, axis);
    }
    const Index groups = call.used(kernel, rows + 1);
    const bool has_marks = kernel.operand_count % 3 == 2;
    const auto first_sum = static_cast<std::size_t>(has_marks ? 2 : 1);
    const bool goes_on = kernel.operand_count > 2;
    parallel_for_each_row(call, shape, [&](const AxisIndex& index) {
        const auto at = [&]<class Element>(std::size_t which, Element) {
            return static_cast<const Element*>(call.operands[which]) +
                   offset_of(index, kernel.operands[which].strides, shape.rank);
        };
        const float* const values = at(0, float{});
        const float* const marks = has_marks ? at(1, float{}) : nullptr;
        const Index step_of_values = last_stride(kernel.operands[0].strides, shape.rank);
        const Index step_of_marks = last_stride(kernel.operands[1].strides, shape.rank);
        MomentsOfRow before{};
        for (std::size_t kind = 0; goes_on && kind < before.size(); ++kind) {
            before[kind] = *at(first_sum + kind, double{});
        }
        auto* const out = static_cast<double*>(call.output) + offset_of(index, kernel.output_strides, shape.rank);
        const Index step_of_kinds = kernel.output_strides[static_cast<std::size_t>(rows)];
        moments_of_row(
            groups, kernel.attributes[1], kernel.attributes[2], before,
            [&](Index step) { return static_cast<double>(values[step * step_of_values]); },
            [&](Index step) { return marks == nullptr || marks[step * step_of_marks] != 0; },
            [&](Index kind, Index group, double sum) { out[kind * step_of_kinds + group] = sum; });
    });
}

TOTOGRAPH_INLINE void embedding(const Kernel& kernel, const KernelCall& call) noexcept {
    const Shape& shape = kernel.iteration;
    const Operand& table = kernel.operands[0];
    const Operand& ids = kernel.operands[1];
    parallel_for_each_row(call, used_rows(kernel, call, shape), [&](const AxisIndex& index) {
        // The ids have an axis less: all that `offset_of` looks at.
        const Index id = static_cast<const std::int32_t*>(call.operands[1])[offset_of(index, ids.strides, shape.rank)];
        const Index to = offset_of(index, kernel.output_strides, shape.rank);
        if (id >= 0 && id < table.shape[0]) {
            copy({call.operands[0], id * table.strides[0], table.strides[1], call.output, to,
                  last_stride(kernel.output_strides, shape.rank), shape[-1]},
                 DType::f32);
        } else {
            std::fill_n(static_cast<float*>(call.output) + to, shape[-1], std::numeric_limits<float>::quiet_NaN());
        }
    });
}

TOTOGRAPH_INLINE void argmax(const Kernel& kernel, const KernelCall& call) noexcept {
    const Operand& x = kernel.operands[0];
    const Index step = last_stride(x.strides, x.shape.rank);
    parallel_for_each_row(call, used_rows(kernel, call, x.shape), [&](const AxisIndex& index) {
        const float* in = static_cast<const float*>(call.operands[0]) + offset_of(index, x.strides, x.shape.rank);
        float largest = in[0];
        Index best = 0;
        for (Index column = 1; column < x.shape[-1] && largest == largest; ++column) {
            const float value = in[column * step];
            if (!(value <= largest)) {  // larger, or NaN
                largest = value;
                best = column;
            }
        }
        static_cast<std::int32_t*>(call.output)[offset_of(index, kernel.output_strides, x.shape.rank)] =
            static_cast<std::int32_t>(best);
    });
}

// By insertion: a row is short.
TOTOGRAPH_INLINE void sort(const Kernel& kernel, const KernelCall& call) noexcept {
    const Operand& x = kernel.operands[0];
    const int rank = x.shape.rank;
    const Index step = last_stride(x.strides, rank);
    const Index out_step = last_stride(kernel.output_strides, rank);
    parallel_for_each_row(call, used_rows(kernel, call, x.shape), [&](const AxisIndex& index) {
        const float* in = static_cast<const float*>(call.operands[0]) + offset_of(index, x.strides, rank);
        float* out = static_cast<float*>(call.output) + offset_of(index, kernel.output_strides, rank);
        for (Index column = 0; column < x.shape[-1]; ++column) {
            const float value = in[column * step];
            Index place = column;
            // NaN stays behind all numbers.
            while (place > 0 && (value < out[(place - 1) * out_step] ||
                                 (out[(place - 1) * out_step] != out[(place - 1) * out_step] && value == value))) {
                out[place * out_step] = out[(place - 1) * out_step];
                --place;
            }
            out[place * out_step] = value;
        }
    });
}

TOTOGRAPH_INLINE void softmax(const Kernel& kernel, const KernelCall& call) noexcept {
    const Shape& shape = kernel.iteration;
    const Index columns = shape[-1];
    const Index step = last_stride(kernel.operands[0].strides, shape.rank);
    parallel_for_each_row(call, used_rows(kernel, call, shape), [&](const AxisIndex& index) {
        const float* in =
            static_cast<const float*>(call.operands[0]) + offset_of(index, kernel.operands[0].strides, shape.rank);
        float* out = static_cast<float*>(call.output) + offset_of(index, kernel.output_strides, shape.rank);
        float largest = in[0];
        for (Index column = 1; column < columns; ++column) {
            largest = std::max(largest, in[column * step]);
        }
        Vector total;
        for (Index column = 0; column < columns; column += packet_size) {
            const Index count = std::min(packet_size, columns - column);
            alignas(sizeof(Packet)) float lanes[packet_size];
            std::fill_n(lanes, packet_size, -std::numeric_limits<float>::infinity());
            for (Index lane = 0; lane < count; ++lane) {
                lanes[lane] = in[(column + lane) * step] - largest;
            }
            store_aligned(lanes, exp(Vector(load_aligned(lanes))).lanes);
            std::fill(lanes + count, lanes + packet_size, 0.0F);
            total = total + Vector(load_aligned(lanes));
            std::copy_n(lanes, count, out + column);
        }
        const float scale = 1.0F / sum_of_lanes(total.lanes);
        for (Index column = 0; column < columns; ++column) {
            out[column] *= scale;
        }
    });
}

}  // namespace movement_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
