// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

namespace totograph::cuda {

/// How each launch of a run of a program computes its GEMMs on a device: made once, read by each launch and by
/// `explain`.
template <class Program, Precision precision>
constexpr auto gemm_choices(const DeviceTraits& device, const Execution& execution) {
    using Lowered = Lowering<Program, precision == Precision::bf16>;
    std::array<GemmChoice, Lowered::launches> choices{};
    const auto launch_at = [](std::size_t launch) -> const Launch& {
        return Lowered::at(static_cast<std::size_t>(Lowered::place(launch).entry));
    };
    const auto select = [&](const GemmGroup& group, const GemmChoice& before) {
        return precision == Precision::f32    ? select_f32_gemm(group, device, execution.fuses)
               : precision == Precision::tf32 ? select_tf32_gemm(group, device, execution.fuses)
                                              : select_gemm(group, before, device, execution.fuses);
    };
    GemmChoice before;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const Launch& launch = launch_at(i);
        choices[i] = select(launch.gemm, before);
        choices[i].follows_norm = precision != Precision::bf16 && launch.kind == LaunchKind::gemm &&
                                  launch.has_reduction && before.tail != TailFusion::norm;
        if (leaves_squares(choices[i].kernel) && i + 1 < choices.size() &&
            reads_squares(select(launch_at(i + 1).gemm, {}).kernel)) {
            choices[i].tail = launch.gemm.tail;
        }
        before = choices[i];
    }
    return choices;
}

/// Which of the kernels by `wgmma` a program of a precision holds for a group: in f32 none, for weights are not bf16.
constexpr GemmKernel wgmma_kernel(const GemmGroup& group, Precision precision) {
    return precision == Precision::tf32 ? wgmma_kernel_in_tf32(group) : wgmma_kernel(group);
}

/// What a launch by tiles shares with those before and behind it.
struct TileTails {
    bool finishes_norm = false;  ///< It adds up the squares that the launch before has left.
    bool leaves_input = false;   ///< It leaves the input of the launch behind: as bf16, if weights are.
    bool leaves_norm = false;    ///< And the squares of its norm.
};
template <class Choices>
constexpr TileTails tile_tails(const Choices& choices, std::size_t launch) {
    const auto leaves = [&](std::size_t which, TailFusion tail) {
        return leaves_squares(choices[which].kernel) && choices[which].tail == tail;
    };
    const bool leaves_norm = leaves(launch, TailFusion::norm);
    return {.finishes_norm = launch > 0 && leaves(launch - 1, TailFusion::norm),
            .leaves_input = leaves_norm || leaves(launch, TailFusion::bf16),
            .leaves_norm = leaves_norm};
}

}  // namespace totograph::cuda
