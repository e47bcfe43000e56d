// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::cuda::lowering_detail {

/// How cuBLASLt, or `tf32_parts`, can compute the whole of a GEMM: its chain adds a bias or a residual, or both, to one
/// sum, and what it reads and writes are whole rows.
template <class Program>
constexpr DirectEpilogue direct_epilogue(int index) {
    const Step& step = step_of<Program>(index);
    const Kernel& kernel = kernel_of<Program>(index);
    if (kernel.accumulators != 1 || kernel.iteration.rank != kernel.row_rank + 1 || step.output.position >= 0 ||
        kernel.columns() % 4 != 0 || kernel.chain.count > 2 || kernel.chain.count < 1) {
        return {};
    }
    const auto column = static_cast<std::size_t>(kernel.row_rank);
    const bool is_lone = kernel.rows() == 1;  // a row that lies as if others followed it
    const Index out_stride = is_lone ? kernel.columns() : even_row_stride(kernel, kernel.output_strides);
    if (kernel.output_strides[column] != 1 || out_stride != kernel.columns()) {
        return {};
    }
    DirectEpilogue result;
    int sum = 0;
    for (int i = 0; i < kernel.chain.count; ++i) {
        const Instruction& instruction = kernel.chain.instructions[static_cast<std::size_t>(i)];
        const int other = instruction.arguments[0] == sum ? instruction.arguments[1] : instruction.arguments[0];
        const bool adds = instruction.op == Op::add && instruction.dtype == DType::f32 &&
                          (instruction.arguments[0] == sum || instruction.arguments[1] == sum) && other != sum &&
                          other >= 1 && other <= kernel.operand_count;
        if (!adds) {
            return {};
        }
        const Operand& operand = kernel.operands[static_cast<std::size_t>(other) - 1];
        const Reference& reference = step.operands[static_cast<std::size_t>(other) - 1];
        const Index rows = is_lone ? kernel.columns() : even_row_stride(kernel, operand.strides);
        if (operand.dtype != DType::f32 || operand.strides[column] != 1 || reference.position >= 0) {
            return {};
        }
        if ((is_lone || rows == 0) && reference.space == Space::weight && result.bias < 0) {
            result.bias = other - 1;
        } else if (rows >= kernel.columns() && rows % 4 == 0 && reference.offset % 4 == 0 && result.residual < 0) {
            result.residual = other - 1;
            result.residual_stride = rows;
        } else {
            return {};
        }
        sum = kernel.chain.given + i;
    }
    result.is_possible = true;
    return result;
}

}  // namespace totograph::cuda::lowering_detail
