// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/exec/cuda/lowering/direct_epilogue.hpp>
#include <totograph/exec/cuda/lowering/draw_relations.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/launch_relations.hpp>
#include <totograph/exec/cuda/lowering/row_local.hpp>
#include <totograph/exec/cuda/lowering/segment_order.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/graph/kernel.hpp>

// From the steps of a plan to launches: what can run in one kernel does.

namespace totograph::cuda {

namespace lowering_detail {

/// GEMMs from `step` on that read one input and can run together, all skinny or all by cuBLASLt.
template <class Program>
constexpr int gemms_together(int step, int steps, bool streams) {
    const bool is_skinny = streams && takes_skinny(kernel_of<Program>(step));
    int end = step;
    while (end < steps && end - step < most_gemms_together && kernel_of<Program>(end).kind == KernelKind::gemm &&
           (streams && takes_skinny(kernel_of<Program>(end))) == is_skinny &&
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
/// the kernel that rounds its input does.
template <class Program>
constexpr bool begins_with_norm(int step, int steps, bool streams) {
    if (!streams || step + 1 >= steps || kernel_of<Program>(step + 1).kind != KernelKind::gemm ||
        !is_norm_of<Program>(step, step + 1)) {
        return false;
    }
    if (!takes_skinny(kernel_of<Program>(step + 1))) {
        return true;
    }
    const int gemms = gemms_together<Program>(step + 1, steps, streams);
    bool absorbs =
        step_of<Program>(step).output.space == Space::arena && norm_ends_with<Program>(step, step + 1 + gemms, steps);
    for (int i = 0; i < gemms; ++i) {
        absorbs = absorbs && scale_operand<Program>(step + 1 + i, step_of<Program>(step).output) >= 0;
    }
    return absorbs;
}

template <class Program>
constexpr Launch next_launch(int step, int steps, bool streams) {
    const int norm = begins_with_norm<Program>(step, steps, streams) ? 1 : 0;
    if (norm == 1 || kernel_of<Program>(step).kind == KernelKind::gemm) {
        const Kernel& gemm = kernel_of<Program>(step + norm);
        Launch launch;
        launch.kind = streams && takes_skinny(gemm) ? LaunchKind::skinny : LaunchKind::gemm;
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

/// The launches of a program. `streams` says whether there are skinny GEMMs (weights are bf16).
///
/// All that templates need to know of a launch is in one small table: a constant expression that reads the program's
/// own tables costs nvcc megabytes each time.
template <class Program, bool streams>
struct Lowering {
    static_assert(Program::loop.times == 1,
                  "totograph: launches are made of programs with all iterations written out (`Program<Model, passes, "
                  "true, false>`).");

private:
    static constexpr std::size_t steps = Program::steps.size();
    static constexpr std::size_t buffers = Program::buffers.size() == 0 ? 1 : Program::buffers.size();

    struct Table {
        std::array<Launch, steps> launches{};
        std::size_t count = 0;
        std::array<bool, buffers> stored_as_bf16{};
        std::array<int, buffers> local{};  ///< Where a segment has it in shared memory; -1 elsewhere.
    };

    using Flags = std::array<bool, buffers>;

    /// Marks how one step uses intermediates: `wanted` are those that something reads that would round them anyway,
    /// `refused` those that something else reads, or that are made by what cannot round.
    static constexpr void mark_uses(const Launch& launch, int index, Flags& wanted, Flags& refused) {
        using namespace lowering_detail;
        const Step& step = step_of<Program>(index);
        const Kernel& kernel = kernel_of<Program>(index);
        const bool is_attention = launch.kind == LaunchKind::step && is_key_or_value(kernel, 1);
        const auto arena = [](const Reference& reference) {
            return reference.space == Space::arena ? static_cast<std::size_t>(reference.index) : buffers;
        };
        // Keys and values of one attention are all stored alike.
        bool refuses_keys = false;
        for (int i = 0; i < kernel.operand_count; ++i) {
            const std::size_t buffer = arena(step.operands[static_cast<std::size_t>(i)]);
            refuses_keys = refuses_keys || (is_key_or_value(kernel, i) && (buffer == buffers || refused[buffer]));
        }
        for (int i = 0; i < kernel.operand_count; ++i) {
            const std::size_t buffer = arena(step.operands[static_cast<std::size_t>(i)]);
            if (buffer == buffers) {
                continue;
            }
            const bool fits = is_attention && (i == 0 || (is_key_or_value(kernel, i) && !refuses_keys));
            wanted[buffer] = wanted[buffer] || fits;
            refused[buffer] = refused[buffer] || !fits;
        }
        if (kernel.kind == KernelKind::gemm && arena(step.input) != buffers) {
            const std::size_t buffer = arena(step.input);
            const auto bytes = static_cast<std::size_t>(kernel.rows() * kernel.k) * sizeof(float);
            const bool whole = step.input.offset == 0 && step.input.position < 0 && kernel.input_stride == kernel.k &&
                               kernel.k % 8 == 0 && Program::buffers[buffer].bytes == bytes;
            wanted[buffer] = true;
            refused[buffer] = refused[buffer] || launch.has_reduction || !whole;
        }
        if (arena(step.output) != buffers) {
            const std::size_t buffer = arena(step.output);
            const bool is_epilogue = kernel.kind == KernelKind::gemm && !launch.direct.is_possible;
            const bool is_pointwise = kernel.kind == KernelKind::pointwise && kernel.dtype == DType::f32 &&
                                      is_alone_at_output<Program>(launch, index);
            refused[buffer] = refused[buffer] || !(is_attention || is_epilogue || is_pointwise) ||
                              step.output.offset != 0 || step.output.position >= 0;
        }
    }

    /// For each buffer, whether it is stored as bf16.
    static constexpr Flags find_bf16(const Table& table) {
        Flags wanted{};
        Flags refused{};
        Flags before{};
        bool goes_on = streams;
        while (goes_on) {  // what one step refuses, an earlier one may share
            before = refused;
            for (std::size_t l = 0; l < table.count; ++l) {
                const Launch& launch = table.launches[l];
                for (int i = launch.first; i < launch.first + launch.count; ++i) {
                    mark_uses(launch, i, wanted, refused);
                }
            }
            goes_on = before != refused;
        }
        Flags result{};
        for (std::size_t i = 0; i < buffers; ++i) {
            result[i] = wanted[i] && !refused[i];
        }
        return result;
    }

    /// For each state, whether it is stored as bf16: what the programs that run together agreed on.
    static constexpr bool state_is_bf16(int state) {
        if constexpr (requires { Program::bf16_states; }) {
            return Program::bf16_states[static_cast<std::size_t>(state)];
        } else {
            return Bf16States<streams, Program>::template of<Program>[static_cast<std::size_t>(state)];
        }
    }

    static constexpr bool stores_bf16(const Table& table, const Reference& reference) {
        return reference.space == Space::arena   ? table.stored_as_bf16[static_cast<std::size_t>(reference.index)]
               : reference.space == Space::state ? state_is_bf16(reference.index)
                                                 : false;
    }

    static constexpr Table make_table() {
        using namespace lowering_detail;
        Table table{};
        table.local.fill(-1);
        for (int step = 0; step < static_cast<int>(steps);) {
            Launch launch = next_launch<Program>(step, static_cast<int>(steps), streams);
            if (launch.kind == LaunchKind::gemm && launch.gemms() == 1) {
                const Reference& output = step_of<Program>(launch.first_gemm()).output;
                if (output.space != Space::state || !state_is_bf16(output.index)) {
                    launch.direct = direct_epilogue<Program>(launch.first_gemm());
                }
            }
            table.launches[table.count++] = launch;
            step += launch.count;
        }
        table.stored_as_bf16 = find_bf16(table);
        const auto rounds = [&](const Reference& reference) { return stores_bf16(table, reference); };
        for (std::size_t l = 0; l < table.count; ++l) {
            Launch& launch = table.launches[l];
            if (launch.kind == LaunchKind::segment) {
                order_segment<Program>(launch, table.local);
            } else {
                order_steps<Program>(launch, &may_overlap<Program>);
                const auto aside = launch.aside;
                for (std::size_t i = 0; i < static_cast<std::size_t>(launch.count); ++i) {
                    launch.aside[i] = aside[static_cast<std::size_t>(launch.order[i])];
                }
            }
            for (int i = 0; i < launch.count; ++i) {
                const auto place = static_cast<std::size_t>(i);
                const int index = launch.first + launch.order[place];
                const Step& step = step_of<Program>(index);
                launch.kernels[place] = step.kernel;
                launch.stores_bf16[place] = rounds(step.output);
                launch.aligned[place] = is_aligned<Program>(index);
            }
            if (launch.kind == LaunchKind::gemm) {
                // Accumulators of several GEMMs lie side by side: one that is not aligned moves the others.
                bool all = true;
                for (int i = launch.norms(); i < launch.norms() + launch.gemms(); ++i) {
                    all = all && launch.aligned[static_cast<std::size_t>(i)];
                }
                for (int i = launch.norms(); i < launch.norms() + launch.gemms(); ++i) {
                    launch.aligned[static_cast<std::size_t>(i)] = all;
                }
            }
            if (launch.kind == LaunchKind::step && is_key_or_value(kernel_of<Program>(launch.first), 1)) {
                launch.query_is_bf16 = rounds(step_of<Program>(launch.first).operands[0]);
                launch.keys_are_bf16 = rounds(step_of<Program>(launch.first).operands[1]);
                launch.prefix_is_early = l > 0 && has_early_prefix<Program>(launch.first, table.launches[l - 1]);
            }
            if (launch.kind != LaunchKind::skinny && launch.kind != LaunchKind::gemm) {
                continue;
            }
            launch.layer = layer_of_weight<Program>(launch.first_gemm());
            const Reference& input = step_of<Program>(launch.first_gemm()).input;
            launch.gemm = gemm_group<Program>(launch, streams, rounds(input));
            launch.input_moves = input.position >= 0;
            for (int i = 0; i < launch.gemms(); ++i) {
                const auto place = static_cast<std::size_t>(i);
                const int step = launch.first_gemm() + i;
                launch.weights[place] = weight_operands<Program>(step);
                launch.scales[place] =
                    launch.has_reduction ? scale_operand<Program>(step, step_of<Program>(launch.first).output) : -1;
            }
        }
        for (std::size_t l = 0; l + 1 < table.count; ++l) {
            table.launches[l].gemm.tail = tail_fusion<Program>(table.launches[l], table.launches[l + 1]);
            table.launches[l + 1].residual_is_early =
                has_early_residual<Program>(table.launches[l + 1], table.launches[l]);
        }
        return table;
    }

    static constexpr Table lowered = make_table();

public:
    static constexpr std::size_t count = lowered.count;
    static constexpr const Launch& at(std::size_t index) { return lowered.launches[index]; }

    /// Where regions begin, as numbers of launches: what comes before the first layer, each layer, and what comes after
    /// the last one. The first is 0.
    static std::vector<std::size_t> regions() {
        std::vector<std::size_t> begins{0};
        int layer = -1;
        std::size_t last_of_layers = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const int own = at(i).layer;
            if (own > layer) {
                layer = own;
                if (i > 0) {
                    begins.push_back(i);
                }
            }
            last_of_layers = own >= 0 ? i : last_of_layers;
        }
        if (layer >= 0 && last_of_layers + 1 < count) {
            begins.push_back(last_of_layers + 1);
        }
        return begins;
    }

    /// Whether an intermediate or a state is stored as bf16.
    static constexpr bool stores_bf16(const Reference& reference) { return stores_bf16(lowered, reference); }

    /// Where in the shared memory of its segment's block an intermediate begins; -1 for what lies elsewhere.
    static constexpr int local_offset(const Reference& reference) {
        return reference.space == Space::arena ? lowered.local[static_cast<std::size_t>(reference.index)] : -1;
    }
    /// A bit for the output of a step, then one for each of its operands: it lies in shared memory.
    static constexpr std::uint32_t local_bits(int index) {
        const Step& step = lowering_detail::step_of<Program>(index);
        std::uint32_t bits = local_offset(step.output) >= 0 ? 1U : 0U;
        for (std::size_t i = 0; i < max_operands; ++i) {
            bits |= local_offset(step.operands[i]) >= 0 ? 2U << i : 0U;
        }
        return bits;
    }
};

}  // namespace totograph::cuda
