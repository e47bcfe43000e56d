// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/kernel_facts.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// When draws from mixtures can take their parameters from the GEMMs that make them. A draw reads the weights of all
// components of its mixture, and of one component the rest: chains of the others need not run.

namespace totograph::cuda::lowering_detail {

/// Whether elements of a tensor lie in the order in which a kernel goes through them.
constexpr bool is_row_major(const Shape& shape, const Strides& strides) {
    Index expected = 1;
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
        if (shape[axis] != 1 && strides[static_cast<std::size_t>(axis)] != expected) {
            return false;
        }
        expected *= shape[axis];
    }
    return true;
}

/// Whether a step is the only one that reads what another makes, an intermediate that fills its buffer from the
/// beginning.
template <class Program>
constexpr bool reads_alone(int reader, int maker) {
    const Step& made = step_of<Program>(maker);
    const Kernel& kernel = kernel_of<Program>(maker);
    if (made.output.space != Space::arena || made.output.offset != 0 || made.output.position >= 0 ||
        kernel.dtype != DType::f32 || !is_row_major(kernel.iteration, kernel.output_strides)) {
        return false;
    }
    bool is_alone = true;
    for (int step = maker + 1; step < static_cast<int>(Program::steps.size()); ++step) {
        is_alone = is_alone && (step == reader || !reads<Program>(step, made.output, &share_buffer));
    }
    return is_alone;
}

/// Whether what a GEMM's chain reads is still there while a step draws: memory that the plan needs no more after the
/// GEMM may be where the draws go.
template <class Program>
constexpr bool outlives_draw(int gemm, int draw) {
    bool result = true;
    for (int i = 0; i < kernel_of<Program>(gemm).operand_count; ++i) {
        result =
            result && !may_overlap<Program>(step_of<Program>(gemm).operands.items[i], step_of<Program>(draw).output);
    }
    return result;
}

/// The GEMMs of a launch that make the parameters of the mixtures from which the step after the next draws; the next
/// one is the softmax of the weights. Not possible where anything else reads what they make.
template <class Program>
constexpr MixtureDraws mixture_draws(const Launch& launch) {
    const int softmax = launch.first + launch.count;
    const int draw = softmax + 1;
    if (launch.gemms() != 4 || draw >= static_cast<int>(Program::steps.size()) ||
        kernel_of<Program>(softmax).kind != KernelKind::structural || kernel_of<Program>(softmax).op != Op::softmax ||
        kernel_of<Program>(draw).kind != KernelKind::structural ||
        kernel_of<Program>(draw).op != Op::sample_student_t_mixture) {
        return {};
    }
    const Kernel& weights = kernel_of<Program>(softmax);
    const Kernel& drawn = kernel_of<Program>(draw);
    const Index components = drawn.operands[0].shape[5];
    // As many as fit in registers.
    if (components > 32 || weights.iteration[-1] != components || !reads_alone<Program>(draw, softmax) ||
        !is_same(step_of<Program>(draw).operands[3], step_of<Program>(softmax).output) ||
        !is_row_major(weights.iteration, weights.operands[0].strides)) {
        return {};
    }
    MixtureDraws result;
    for (int parameter = 0; parameter < 4; ++parameter) {
        const auto place = static_cast<std::size_t>(parameter);
        const Operand& operand = drawn.operands.items[place];
        const int reader = parameter == 3 ? softmax : draw;
        const Reference& wanted = step_of<Program>(reader).operands[parameter == 3 ? 0 : place];
        if (!is_row_major(operand.shape, operand.strides)) {
            return {};
        }
        for (int i = 0; i < 4; ++i) {
            const int gemm = launch.first_gemm() + i;
            const Kernel& kernel = kernel_of<Program>(gemm);
            if (is_same(wanted, step_of<Program>(gemm).output) && reads_alone<Program>(reader, gemm) &&
                kernel.accumulators == 1 && !rotates_pairs(kernel.chain) &&
                kernel.iteration.size() == operand.shape.size() && outlives_draw<Program>(gemm, draw)) {
                result.gemms[place] = i;
            }
        }
        if (result.gemms[place] < 0) {
            return {};
        }
    }
    result.is_possible = true;
    return result;
}

}  // namespace totograph::cuda::lowering_detail
