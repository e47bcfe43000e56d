// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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

/// Steps for which a cluster is better than a launch each: it has the threads of eight blocks alone. 22,176 numbers,
/// sorted by nines and marked, took 5.4 us in one, and 2.1 in two launches (`bench_cuda_toto2`, `readme_22m` and
/// `batch_4m`, H200).
inline constexpr int fewest_cluster_steps = 4;

namespace lowering_detail {

/// GEMMs from `step` on that read the same columns of one input, and can run together, all skinny or none.
template <class Program>
constexpr int gemms_together(int step, int steps, bool streams) {
    const bool is_skinny = takes_skinny(kernel_of<Program>(step), streams);
    int end = step;
    while (end < steps && end - step < most_gemms_together && kernel_of<Program>(end).kind == KernelKind::gemm &&
           takes_skinny(kernel_of<Program>(end), streams) == is_skinny &&
           kernel_of<Program>(end).input_stride == kernel_of<Program>(step).input_stride &&
           kernel_of<Program>(end).rows() == kernel_of<Program>(step).rows() &&
           kernel_of<Program>(end).k == kernel_of<Program>(step).k &&
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

/// Whether nothing after the group reads what the norm made, an intermediate, or a part of it.
template <class Program>
constexpr bool norm_ends_with(int norm, int end, int steps) {
    bool is_read = false;
    for (int step = end; step < steps; ++step) {
        is_read = is_read || reads<Program>(step, step_of<Program>(norm).output, &share_buffer);
    }
    return !is_read;
}

/// GEMMs from `step` on as other kernels than skinny ones would compute them.
template <class Program>
constexpr GemmGroup group_of_others(int step, int count, bool is_bf16) {
    const Kernel& first = kernel_of<Program>(step);
    GemmGroup group;
    group.m = first.rows();
    group.k = first.k;
    group.is_bf16 = is_bf16;
    group.input_is_dense = first.input_stride == first.k;
    group.is_aligned = true;
    for (int gemm = step; gemm < step + count; ++gemm) {
        group.members[static_cast<std::size_t>(group.count++)] = member_of(kernel_of<Program>(gemm), false);
        group.is_aligned = group.is_aligned && is_aligned<Program>(gemm);
    }
    return group;
}

/// Whether a norm and the GEMM after it begin a group. A skinny GEMM computes the norm itself. In bf16 the kernel that
/// rounds the input of other GEMMs computes it. Tiles add up what the GEMM before has left, in tf32, too.
template <class Program>
constexpr bool begins_with_norm(int step, int steps, bool streams) {
    if (step + 1 >= steps || kernel_of<Program>(step + 1).kind != KernelKind::gemm ||
        !is_norm_of<Program>(step, step + 1)) {
        return false;
    }
    const int gemms = gemms_together<Program>(step + 1, steps, streams);
    if (!takes_skinny(kernel_of<Program>(step + 1), streams)) {
        return streams || holds_wgmma_in_tf32(group_of_others<Program>(step + 1, gemms, streams));
    }
    bool absorbs =
        step_of<Program>(step).output.space == Space::arena && norm_ends_with<Program>(step, step + 1 + gemms, steps);
    for (int i = 0; i < gemms; ++i) {
        absorbs = absorbs && scale_operand<Program>(step + 1 + i, step) >= 0;
    }
    return absorbs;
}

/// The end of the steps from `step` on that can be cut into rows, before the next GEMM; no more than one launch has.
template <class Program>
constexpr int end_of_row_steps(int step, int steps, bool streams) {
    const int most = std::min(steps, step + segment_steps);
    while (step < most && row_axes(kernel_of<Program>(step)) > 0 && !begins_with_norm<Program>(step, steps, streams)) {
        ++step;
    }
    return step;
}

/// The steps from `step` on that run by rows in one kernel, in place of `small` that could be one segment; `small` is 1
/// where there is none. Empty where that does not pay.
template <class Program>
constexpr RowRun run_in_place_of(int step, int small, int steps, bool streams) {
    const int limit = end_of_row_steps<Program>(step, steps, streams);
    const RowRun run = small > 1 ? longest_run_of_rows<Program>(step, step + small, fewest_small_rows, segment_elements)
                                 : longest_run_of_rows<Program>(step, limit, fewest_rows, widest_row);
    const RowRun wide = longest_run_of_rows<Program>(step, limit, fewest_wide_rows, widest_of_few_rows);
    const RowRun& longest = wide.kept >= std::max(fewest_wide_steps, run.kept + 1) ? wide : run;
    // A part of a segment becomes a launch of its own, and so does the rest: it must be most of its steps, or a third
    // of them that has most of its elements.
    const auto elements = [&](int count) {
        Index result = 0;
        for (int i = step; i < step + count; ++i) {
            result += elements_of(kernel_of<Program>(i));
        }
        return result;
    };
    const bool is_most =
        2 * longest.kept > small || (3 * longest.kept > small && 2 * elements(longest.count) > elements(small));
    return longest.kept > 1 && is_most ? longest : RowRun{};
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
        if (launch.kind == LaunchKind::skinny &&
            prefers_small_tiles(group_of_others<Program>(launch.first_gemm(), launch.gemms(), streams))) {
            launch.kind = LaunchKind::gemm;
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
    if (launch.kind == LaunchKind::segment && !takes_cluster<Program>(launch)) {
        return launch;
    }
    const RowRun run = run_in_place_of<Program>(step, launch.count, steps, streams);
    if (run.kept > 0) {
        launch.kind = LaunchKind::rows;
        launch.count = run.count;
        launch.rows = run.rows;
        launch.aside = run.aside;
        return launch;
    }
    // Steps that all rows read, such as those of a request, stand in the way of the rows' own: a launch before those.
    constexpr int most_before = 4;
    for (int begin = step + 1; launch.kind == LaunchKind::segment && begin <= std::min(step + most_before, end - 2);
         ++begin) {
        Launch before = launch;
        before.count = begin - step;
        if (run_in_place_of<Program>(begin, end - begin, steps, streams).kept > 0 && !takes_cluster<Program>(before)) {
            before.kind = before.count > 1 ? LaunchKind::segment : LaunchKind::step;
            return before;
        }
    }
    if (launch.kind == LaunchKind::segment && launch.count < fewest_cluster_steps) {
        launch.kind = LaunchKind::step;
        launch.count = 1;
    }
    return launch;
}

}  // namespace lowering_detail

}  // namespace totograph::cuda
