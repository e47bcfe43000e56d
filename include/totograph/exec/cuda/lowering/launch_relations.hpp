// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/lowering/direct_epilogue.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/op.hpp>

// What launches are to the layers of a model, and to those before and after them.

namespace totograph::cuda::lowering_detail {

/// The layer whose weights a launch's GEMMs read; -1 when they belong to none.
template <class Program>
constexpr void find_layer(Launch& launch) {
    int node = Program::weights[static_cast<std::size_t>(step_of<Program>(launch.first_gemm()).weight.index)].node;
    while (Program::graph[node].layer < 0 && Program::graph[node].input_count > 0) {
        node = Program::graph[node].inputs[0];
    }
    launch.layer = Program::graph[node].layer;
    launch.layer_step = Program::graph[node].layer_step;
    launch.loop = Program::graph[node].loop;
}

/// Whether a step is an attention of decoding, whose prefix is read before anything else.
template <class Program>
constexpr bool has_prefix(int step) {
    const Kernel& kernel = kernel_of<Program>(step);
    return kernel.op == Op::attention && kernel.attention.is_decode(kernel.iteration[3]);
}

/// Whether a launch writes neither such an attention's prefix nor what tells its keys' number.
template <class Program>
constexpr bool leaves_prefix(int attention, const Launch& other) {
    const Step& step = step_of<Program>(attention);
    const AttentionDescription& described = kernel_of<Program>(attention).attention;
    bool leaves = true;
    for (int i = other.first; leaves && i < other.first + other.count; ++i) {
        leaves = !reads_position<Program>(attention, step_of<Program>(i).output);
        for (const int read_early : {1, 2, AttentionDescription::length_input,
                                     described.has_suffix ? AttentionDescription::suffix_length_input : 1}) {
            const Reference& operand = step.operands.items[read_early];
            leaves = leaves && operand.position < 0 && !may_overlap<Program>(step_of<Program>(i).output, operand);
        }
    }
    return leaves;
}

/// Whether iterations of a loop that the tables leave out may lie between two steps.
template <class Program>
constexpr bool are_iterations_between(int before, int after) {
    bool result = false;
    for (int i = 0; i < Program::loops.count; ++i) {
        const LoopPart& steps = Program::loops[i].steps;
        result = result || (steps.count > 0 && before < steps.first - steps.count && after >= steps.first);
    }
    return result;
}

/// Whether a step moves elements of an intermediate to where another one has them, as they are.
constexpr bool is_copy(const Step& step, const Kernel& kernel) {
    return only_moves(kernel) && kernel.dtype == DType::f32 && kernel.operands[0].dtype == DType::f32 &&
           step.operands[0].space == Space::arena && step.operands[0].position < 0 && step.output.space == Space::arena;
}

/// Whether nothing that a launch touches lies where an intermediate does, but for what is of the same one: then that
/// may have elements of another size than planned, which changes what rows of memory are to each other.
template <class Program>
constexpr bool is_alone_at(const Launch& launch, const Reference& intermediate) {
    const auto is_apart = [&](const Reference& other) {
        return share_buffer(other, intermediate) || !may_overlap<Program>(other, intermediate);
    };
    bool alone = true;
    for (int i = launch.first; i < launch.first + launch.count; ++i) {
        const Step& step = step_of<Program>(i);
        const Kernel& kernel = kernel_of<Program>(i);
        alone = alone && is_apart(step.output) && (kernel.kind != KernelKind::gemm || is_apart(step.input));
        for (int operand = 0; operand < kernel.operand_count; ++operand) {
            alone = alone && is_apart(step.operands.items[operand]);
        }
    }
    return alone;
}

/// Whether the launch before a lone GEMM does not write the residual that the GEMM adds, which then can be read
/// as soon as the kernel begins, like such a prefix.
template <class Program>
constexpr bool has_early_residual(const Launch& launch, const Launch& before) {
    if (!launch.direct.is_possible || launch.direct.residual < 0) {
        return false;
    }
    const auto operand = static_cast<std::size_t>(launch.direct.residual);
    const Reference& residual = step_of<Program>(launch.first_gemm()).operands.items[operand];
    bool is_early = true;
    for (int i = before.first; i < before.first + before.count; ++i) {
        is_early = is_early && !may_overlap<Program>(step_of<Program>(i).output, residual);
    }
    return is_early;
}

/// The GEMMs of a launch as numbers, but for what can run behind them.
/// @param is_bf16  weights are, and so is what they multiply
template <class Program>
constexpr GemmGroup gemm_group(const Launch& launch, bool is_bf16, bool input_is_bf16) {
    const Kernel& first = kernel_of<Program>(launch.first_gemm());
    GemmGroup group;
    group.m = first.rows();
    group.k = first.k;
    group.count = launch.gemms();
    group.is_bf16 = is_bf16;
    group.input_is_bf16 = input_is_bf16;
    group.input_is_dense = first.input_stride == first.k;
    group.is_aligned = true;
    group.fits_in_32_bits = true;
    group.is_skinny = launch.kind == LaunchKind::skinny;
    group.is_direct = launch.direct.is_possible;
    group.adds_bias = launch.direct.is_possible && launch.direct.bias >= 0;
    group.feeds_draws = launch.draws.is_possible;
    for (int i = 0; i < group.count; ++i) {
        const auto place = static_cast<std::size_t>(launch.norms() + i);
        const Kernel& kernel = kernel_of<Program>(launch.first_gemm() + i);
        group.members[static_cast<std::size_t>(i)] = member_of(kernel, launch.stores_bf16[place]);
        group.is_aligned = group.is_aligned && launch.aligned[place];
        group.fits_in_32_bits = group.fits_in_32_bits && fits_in_32_bits(kernel);
    }
    return group;
}

/// Whether each row of a launch's GEMMs reads, of the norm that begins the launch, at most its own number.
template <class Program>
constexpr bool reads_norm_by_row(const Launch& launch) {
    const Reference& norms = step_of<Program>(launch.first).output;
    bool result = true;
    for (int gemm = launch.first_gemm(); gemm < launch.first_gemm() + launch.gemms(); ++gemm) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(kernel_of<Program>(gemm).operand_count); ++i) {
            result = result && (!may_overlap<Program>(step_of<Program>(gemm).operands.items[i], norms) ||
                                is_norm_by_row<Program>(gemm, i, launch.first));
        }
    }
    return result;
}

/// What of the next launch can run with a lone GEMM: storing all that it makes as bf16, if weights are, and a norm
/// whose result lies where the GEMM touches nothing. Blocks of the next launch that finish such a norm do so for their
/// own rows, and wait for no others.
template <class Program>
constexpr TailFusion tail_fusion(const Launch& launch, const Launch& next) {
    // Else what it stores as bf16 would lie where its own input does.
    const bool can_store = launch.gemm.input_is_bf16 || !launch.gemm.is_bf16;
    if (!launch.direct.is_possible || launch.norms() > 0 || !can_store || next.kind != LaunchKind::gemm ||
        next.gemm.input_is_bf16) {
        return TailFusion::none;
    }
    const Kernel& gemm = kernel_of<Program>(launch.first);
    const Reference& made = step_of<Program>(launch.first).output;
    const Kernel& reader = kernel_of<Program>(next.first_gemm());
    if (!is_same(step_of<Program>(next.first_gemm()).input, made) || reader.rows() != gemm.rows() ||
        reader.k != gemm.columns() || reader.input_stride != gemm.columns()) {
        return TailFusion::none;
    }
    if (!next.has_reduction) {
        return launch.gemm.is_bf16 ? TailFusion::bf16 : TailFusion::none;
    }
    const Reference& norms = step_of<Program>(next.first).output;
    const bool is_apart = !reads<Program>(launch.first, norms) && !may_overlap<Program>(norms, made);
    return is_apart && reads_norm_by_row<Program>(next) ? TailFusion::norm : TailFusion::none;
}

/// Whether skinny GEMMs read all that a skinny GEMM before them makes, and nothing else, as f32 that they round.
template <class Program>
constexpr bool reads_result_alone(const Launch& launch, const Launch& before) {
    if (launch.kind != LaunchKind::skinny || before.kind != LaunchKind::skinny || before.gemms() != 1 ||
        launch.gemm.input_is_bf16 || launch.input_moves) {
        return false;
    }
    const Kernel& maker = kernel_of<Program>(before.first_gemm());
    const Kernel& reader = kernel_of<Program>(launch.first_gemm());
    const Reference& made = step_of<Program>(before.first_gemm()).output;
    const auto column = static_cast<std::size_t>(maker.row_rank);
    return is_same(step_of<Program>(launch.first_gemm()).input, made) && reader.rows() == maker.rows() &&
           reader.k == maker.columns() && reader.input_stride == maker.columns() && maker.dtype == DType::f32 &&
           maker.iteration.rank == maker.row_rank + 1 && maker.output_strides[column] == 1 &&
           even_row_stride(maker, maker.output_strides) == maker.columns();
}

}  // namespace totograph::cuda::lowering_detail
