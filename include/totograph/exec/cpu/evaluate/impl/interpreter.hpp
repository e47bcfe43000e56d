// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/evaluate/interpreter.hpp>

#include <algorithm>
#include <cstddef>

#include <totograph/core/dtype.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/used_elements.hpp>
#include <totograph/exec/cpu/kernels/used_rows.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cpu {
namespace interpreter_detail {

TOTOGRAPH_INLINE Index offset_of(const Kernel& kernel, const Strides& strides, Index row, Index column) {
    Index offset = 0;
    for (int axis = kernel.iteration.rank - 1; axis >= kernel.row_rank; --axis) {
        offset += column % kernel.iteration[axis] * strides[static_cast<std::size_t>(axis)];
        column /= kernel.iteration[axis];
    }
    for (int axis = kernel.row_rank - 1; axis >= 0; --axis) {
        offset += row % kernel.iteration[axis] * strides[static_cast<std::size_t>(axis)];
        row /= kernel.iteration[axis];
    }
    return offset;
}

TOTOGRAPH_INLINE void round_to(DType dtype, double* values, Index count) {
    if (dtype == DType::f32) {
        for (Index i = 0; i < count; ++i) {
            values[i] = static_cast<double>(static_cast<float>(values[i]));
        }
    } else if (dtype == DType::i32) {
        for (Index i = 0; i < count; ++i) {
            values[i] = static_cast<double>(to_i32(values[i]));
        }
    }
}

TOTOGRAPH_INLINE const double* run(const Chain& chain, Values& values, Index count) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
        const Instruction& instruction = chain.instructions[i];
        auto& to = values[static_cast<std::size_t>(chain.given) + i];
        const auto& a = values[static_cast<std::size_t>(instruction.arguments[0])];
        const auto& b = values[static_cast<std::size_t>(instruction.arguments[1])];
        const auto& c = values[static_cast<std::size_t>(instruction.arguments[2])];
        if (instruction.op == Op::constant) {
            std::fill_n(to.begin(), count, instruction.immediate);
        } else if (instruction.op == Op::custom_elementwise) {
            for (std::size_t lane = 0; lane < static_cast<std::size_t>(count); ++lane) {
                to[lane] = apply_custom(*instruction.custom, instruction.dtype, a[lane], b[lane], c[lane]);
            }
        } else {
            apply_elementwise(instruction.op, a.data(), b.data(), c.data(), count, to.data());
        }
        round_to(instruction.dtype, to.data(), count);
    }
    return values[static_cast<std::size_t>(chain.given + chain.count - 1)].data();
}

TOTOGRAPH_INLINE void load_operands(const Kernel& kernel, const KernelCall& call, int first, int end, int place,
                                    Index row, Index column, Index count, Values& values) {
    for (int i = first; i < end; ++i, ++place) {
        const auto which = static_cast<std::size_t>(i);
        const Operand& operand = kernel.operands[which];
        const Index stride = kernel.iteration.rank == kernel.row_rank
                                 ? 0
                                 : operand.strides[static_cast<std::size_t>(kernel.iteration.rank - 1)];
        load_each(call.operands[which], operand.dtype, offset_of(kernel, operand.strides, row, column), stride, count,
                  values[static_cast<std::size_t>(place)].data());
    }
}

}  // namespace interpreter_detail

TOTOGRAPH_INLINE void interpret_pointwise(const Kernel& kernel, const KernelCall& call) noexcept {
    using namespace interpreter_detail;
    const Index columns = kernel.columns();
    const Index inner = inner_extent(kernel);
    const Index out_stride = kernel.iteration.rank == kernel.row_rank
                                 ? 0
                                 : kernel.output_strides[static_cast<std::size_t>(kernel.iteration.rank - 1)];
    const auto part_of_row = [&](Index row, Index column, Index end, Values& values) {
        while (column < end) {
            const Index count = std::min({block, end - column, inner - column % inner});
            load_operands(kernel, call, 0, kernel.operand_count, 0, row, column, count, values);
            const double* result = run(kernel.chain, values, count);
            const TensorData out{call.output, kernel.dtype, {}};
            const Index to = offset_of(kernel, kernel.output_strides, row, column);
            for (Index i = 0; i < count; ++i) {
                out.set(to + i * out_stride, result[i]);
            }
            column += count;
        }
    };
    if (kernel.bounds.any()) {
        parallel_used_elements(call, kernel, [&](Index row, Index first, Index end) {
            Values values;
            part_of_row(row, first, end, values);
        });
    } else {
        interpreter_detail::parallel_rows(call, kernel.rows(), columns,
                                          [&](Index row, Values& values) { part_of_row(row, 0, columns, values); });
    }
}

TOTOGRAPH_INLINE void interpret_reduction(const Kernel& kernel, const KernelCall& call) noexcept {
    using namespace interpreter_detail;
    const Index columns = kernel.columns();
    const bool is_bounded = kernel.bounds.any();
    const UsedRows rows(kernel.bounds, kernel.bounds.row_rank, call.bounds);
    const Index count_of_rows = is_bounded ? rows.count() : kernel.rows();
    interpreter_detail::parallel_rows(call, count_of_rows, columns, [&](Index number, Values& values) {
        const Index row = is_bounded ? rows.place(number) : number;
        double total = start_of_reduction(kernel.op);
        for (Index column = 0; column < columns;) {
            const Index count = std::min(block, columns - column);
            load_operands(kernel, call, 0, kernel.prologue_operands, 0, row, column, count, values);
            const double* result = run(kernel.prologue, values, count);
            for (Index i = 0; i < count; ++i) {
                total = reduced(kernel.op, total, result[i]);
            }
            column += count;
        }
        values[0][0] = kernel.op == Op::mean ? total / static_cast<double>(columns) : total;
        const auto last = static_cast<std::size_t>(kernel.prologue.count);
        round_to(last > 0 ? kernel.prologue.instructions[last - 1].dtype : kernel.operands[0].dtype, values[0].data(),
                 1);
        load_operands(kernel, call, kernel.prologue_operands, kernel.operand_count, 1, row, 0, 1, values);
        TensorData{call.output, kernel.dtype, {}}.set(offset_of(kernel, kernel.output_strides, row, 0),
                                                      run(kernel.chain, values, 1)[0]);
    });
}

}  // namespace totograph::cpu
