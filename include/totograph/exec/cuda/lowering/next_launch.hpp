// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/lowering/draw_relations.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/row_local.hpp>
#include <totograph/exec/cuda/lowering/segment_order.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/graph/kernel.hpp>

// Which steps of a plan are launched together: what can run in one kernel does.

namespace totograph::cuda {

namespace lowering_detail {

/// GEMMs from `step` on that read one input and can run together, all skinny or all by cuBLASLt.
template <class Program>
constexpr int gemms_together(int step, int steps, bool streams) {
    const bool is_skinny = takes_skinny(kernel_of<Program>(step), streams);
    int end = step;
    while (end < steps && end - step < most_gemms_together && kernel_of<Program>(end).kind == KernelKind::gemm &&
           takes_skinny(kernel_of<Program>(end), streams) == is_skinny &&
           kernel_of<Program>(end).input_stride == kernel_of<Program>(step).input_stride &&
           kernel_of<Program>(end).rows() == kernel_of<Program>(step).rows() &&
           is_same(step_of<Program>(end).input, step_of<Program>(step).input)) {
        for (int other = step; other < end; ++other) {
            if (!are_independent<Program>(other, end)) {
                return end - step;
            }
        }
        ++end;
    }
    return end - step;
}

/// Whether nothing after the group reads what the norm made.
template <class Program>
constexpr bool norm_ends_with(int norm, int end, int steps) {
    const Step& made = step_of<Program>(norm);
    for (int step = end; step < steps; ++step) {
        const Step& other = step_of<Program>(step);
        const Kernel& kernel = kernel_of<Program>(step);
        for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
            if (is_same(other.operands[i], made.output)) {
                return false;
            }
        }
    }
    return true;
}

/// Whether a norm and the GEMM after it begin a group: a skinny GEMM computes the norm itself, for cuBLASLt
/// the kernel that rounds its input to bf16 does.
template <class Program>
constexpr bool begins_with_norm(int step, int steps, bool streams) {
    if (step + 1 >= steps || kernel_of<Program>(step + 1).kind != KernelKind::gemm ||
        !is_norm_of<Program>(step, step + 1)) {
        return false;
    }
    if (!takes_skinny(kernel_of<Program>(step + 1), streams)) {
        return streams;
    }
    const int gemms = gemms_together<Program>(step + 1, steps, streams);
    bool absorbs =
        step_of<Program>(step).output.space == Space::arena && norm_ends_with<Program>(step, step + 1 + gemms, steps);
    for (int i = 0; i < gemms; ++i) {
        absorbs = absorbs && scale_operand<Program>(step + 1 + i, step_of<Program>(step).output) >= 0;
    }
    return absorbs;
}

/// The launch that begins at a step, of which only the steps are known.
template <class Program>
constexpr Launch next_launch(int step, int steps, bool streams) {
    const int norm = begins_with_norm<Program>(step, steps, streams) ? 1 : 0;
    if (norm == 1 || kernel_of<Program>(step).kind == KernelKind::gemm) {
        const Kernel& gemm = kernel_of<Program>(step + norm);
        Launch launch;
        launch.kind = takes_skinny(gemm, streams) ? LaunchKind::skinny : LaunchKind::gemm;
        launch.first = step;
        launch.count = norm + gemms_together<Program>(step + norm, steps, streams);
        launch.has_reduction = norm == 1;
        // Where draws take their parameters from the accumulators, one component's chains run in place of all, and no
        // softmax is launched.
        if (may_draw_from(gemm.rows(), launch.kind == LaunchKind::skinny)) {
            launch.draws = mixture_draws<Program>(launch);
            launch.count += launch.others();
            launch.kind = launch.draws.is_possible ? LaunchKind::gemm : launch.kind;
        }
        return launch;
    }
    int end = step;
    while (end < steps && end - step < segment_steps && is_small<Program>(end) &&
           !begins_with_norm<Program>(end, steps, streams)) {
        ++end;
    }
    Launch launch;
    launch.first = step;
    launch.kind = end - step > 1 ? LaunchKind::segment : LaunchKind::step;
    launch.count = end - step > 1 ? end - step : 1;
    RowRun run;
    if (launch.kind == LaunchKind::step) {
        int limit = step;
        while (limit < steps && row_axes(kernel_of<Program>(limit)) > 0 &&
               !begins_with_norm<Program>(limit, steps, streams)) {
            ++limit;
        }
        run = longest_run_of_rows<Program>(step, limit, fewest_rows, widest_row);
    } else if (takes_cluster<Program>(launch)) {
        run = longest_run_of_rows<Program>(step, end, fewest_small_rows, segment_elements);
    }
    // A part of a segment becomes a launch of its own, and so does the rest: it must be most of it.
    if (run.kept > 1 && 2 * run.kept > launch.count) {
        launch.kind = LaunchKind::rows;
        launch.count = run.count;
        launch.rows = run.rows;
        launch.aside = run.aside;
    }
    return launch;
}

}  // namespace lowering_detail

}  // namespace totograph::cuda
