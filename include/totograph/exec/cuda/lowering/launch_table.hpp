// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/exec/cuda/lowering/direct_epilogue.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/launch_relations.hpp>
#include <totograph/exec/cuda/lowering/next_launch.hpp>
#include <totograph/exec/cuda/lowering/segment_order.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/exec/cuda/runtime/next_begins.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// The launches of a program's tables, and how its intermediates are stored.
template <class Program, bool streams>
struct LaunchTable {
    static constexpr std::size_t steps = Program::steps.size();
    static constexpr std::size_t buffers = Program::buffers.size() == 0 ? 1 : Program::buffers.size();

    std::array<Launch, steps> launches{};
    std::size_t count = 0;
    std::array<bool, buffers> stored_as_bf16{};
    std::array<int, buffers> local{};  ///< Where a segment has it in shared memory; -1 elsewhere.

    static constexpr LaunchTable make() {
        LaunchTable table{};
        table.local.fill(-1);
        table.find_launches();
        table.stored_as_bf16 = table.find_bf16();
        for (std::size_t i = 0; i < table.count; ++i) {
            Launch& launch = table.launches[i];
            table.order(launch);
            table.describe_steps(launch);
            if (launch.kind == LaunchKind::skinny || launch.kind == LaunchKind::gemm) {
                table.describe_gemms(launch);
            }
            if (i > 0) {
                table.find_begin(i);
            }
        }
        for (std::size_t i = 0; i + 1 < table.count; ++i) {
            Launch& launch = table.launches[i];
            Launch& next = table.launches[i + 1];
            launch.gemm.tail = lowering_detail::tail_fusion<Program>(launch, next);
            if (!is_compiled(GemmKernel::sm90_cluster, launch.gemm) && !tiles_have_tail(launch.gemm)) {
                launch.gemm.tail = TailFusion::none;
            }
            next.residual_is_early = lowering_detail::has_early_residual<Program>(next, launch);
        }
        table.find_left_inputs();
        return table;
    }

    /// Whether an intermediate or a state is stored as bf16.
    [[nodiscard]] constexpr bool stores_bf16(const Reference& reference) const {
        return reference.space == Space::arena   ? stored_as_bf16[static_cast<std::size_t>(reference.index)]
               : reference.space == Space::state ? state_is_bf16(reference.index)
                                                 : false;
    }

private:
    using Flags = std::array<bool, buffers>;

    static constexpr bool is_attention(const Launch& launch) {
        return launch.kind == LaunchKind::step && is_key_or_value(lowering_detail::kernel_of<Program>(launch.first), 1);
    }

    /// For each state, whether it is stored as bf16: what the programs that run together agreed on.
    static constexpr bool state_is_bf16(int state) {
        if constexpr (requires { Program::bf16_states; }) {
            return Program::bf16_states[static_cast<std::size_t>(state)];
        } else {
            return Bf16States<streams, Program>::template of<Program>[static_cast<std::size_t>(state)];
        }
    }

    constexpr void find_launches() {
        using namespace lowering_detail;
        for (int step = 0; step < static_cast<int>(steps);) {
            Launch launch = next_launch<Program>(step, static_cast<int>(steps), streams);
            if (launch.kind == LaunchKind::gemm && launch.gemms() == 1) {
                const Reference& output = step_of<Program>(launch.first_gemm()).output;
                if (output.space != Space::state || !state_is_bf16(output.index)) {
                    launch.direct = direct_epilogue<Program>(launch.first_gemm());
                }
            }
            launches[count++] = launch;
            step += launch.count;
        }
    }

    /// Whether a launch is bound by reading weights, which it asks for before it waits. With more rows than one tensor
    /// core instruction takes, a block fills a multiprocessor, and would keep others from it while it waits
    /// (`bench_cuda_kronos`, `base_paths`: 64 rows, 18.2 ms on an H200 and 20.5 where these launches let the next begin
    /// at once).
    static constexpr bool streams_weights(const Launch& launch) {
        return launch.kind == LaunchKind::skinny && launch.gemm.m <= SkinnyTile::m;
    }

    /// When a launch can begin, and what an attention can read then. In a row of launches that stream weights, as many
    /// are on their way as registers hold. So is the prefix of an attention behind them, unless a warp computes it,
    /// which waits first. Whatever else is launched would only wait, in the place of others.
    constexpr void find_begin(std::size_t index) {
        Launch& launch = launches[index];
        NextBegins& begin = launches[index - 1].next_begins;
        const bool follows_stream = streams_weights(launches[index - 1]);
        if (streams_weights(launch) && follows_stream) {
            begin = NextBegins::at_once;
        } else if (is_attention(launch) && lowering_detail::has_prefix<Program>(launch.first)) {
            begin = follows_stream ? NextBegins::at_once : NextBegins::after_wait;
            launch.prefix_is_early = has_early_prefix(index);
            if (!launch.prefix_is_early && follows_stream) {
                begin = NextBegins::after_wait;
                launch.prefix_is_early = has_early_prefix(index);
            }
        }
    }

    /// Whether no launch that may still run when an attention begins writes its prefix: one after the other, back to
    /// the last one that lets the next begin after its own wait, for all before that one have ended.
    [[nodiscard]] constexpr bool has_early_prefix(std::size_t index) const {
        const int attention = launches[index].first;
        for (std::size_t other = index; other-- > 0;) {
            const Launch& launch = launches[other];
            if (lowering_detail::are_iterations_between<Program>(launch.first, attention) ||
                !lowering_detail::leaves_prefix<Program>(attention, launch)) {
                return false;
            }
            if (launch.next_begins == NextBegins::after_wait) {
                return true;
            }
        }
        return false;  // what another program launched may still run
    }

    /// Finds which skinny GEMMs leave their result as bf16 to the launch behind. All that are one kernel do: the last
    /// GEMM of a loop is one in all iterations, whatever stands behind the loop. There is room for one input, so what
    /// reads one leaves none: its first blocks would write where the others read.
    constexpr void find_left_inputs() {
        constexpr Index least_rows = compiled_thresholds.skinny_least_m_to_leave_bf16;
        const auto kernel_of_gemm = [](const Launch& launch) {
            return launch.kernels[static_cast<std::size_t>(launch.norms())];
        };
        std::array<bool, steps> may_take{};
        for (std::size_t i = 1; streams && i < count; ++i) {
            may_take[i] = launches[i].gemm.m >= least_rows &&
                          lowering_detail::reads_result_alone<Program>(launches[i], launches[i - 1]);
        }
        for (std::size_t i = 1; streams && i < count; ++i) {
            const int maker = kernel_of_gemm(launches[i - 1]);
            bool takes = may_take[i];
            for (std::size_t j = 1; takes && j < count; ++j) {
                takes = !(may_take[j] && launches[j].gemms() == 1 && kernel_of_gemm(launches[j]) == maker);
            }
            launches[i].takes_bf16 = takes;
            for (std::size_t j = 0; takes && j < count; ++j) {
                Launch& other = launches[j];
                other.leaves_bf16 = other.leaves_bf16 || (other.kind == LaunchKind::skinny && other.gemms() == 1 &&
                                                          kernel_of_gemm(other) == maker);
            }
        }
    }

    /// Marks how one step uses intermediates: `wanted` are those that something reads that would round them anyway,
    /// `refused` those that something else reads, or that are made by what cannot round.
    static constexpr void mark_uses(const Launch& launch, int index, Flags& wanted, Flags& refused) {
        using namespace lowering_detail;
        const Step& step = step_of<Program>(index);
        const Kernel& kernel = kernel_of<Program>(index);
        const bool attends = is_attention(launch);
        const auto arena = [](const Reference& reference) {
            return reference.space == Space::arena ? static_cast<std::size_t>(reference.index) : buffers;
        };
        // Keys and values of one attention are all stored alike.
        bool refuses_keys = false;
        for (int i = 0; i < kernel.operand_count; ++i) {
            const std::size_t buffer = arena(step.operands.items[i]);
            refuses_keys = refuses_keys || (is_key_or_value(kernel, i) && (buffer == buffers || refused[buffer]));
        }
        for (int i = 0; i < kernel.operand_count; ++i) {
            const std::size_t buffer = arena(step.operands.items[i]);
            if (buffer == buffers) {
                continue;
            }
            const bool is_attended = attends && (i == 0 || (is_key_or_value(kernel, i) && !refuses_keys));
            wanted[buffer] = wanted[buffer] || is_attended;
            const bool stays = is_copy(step, kernel) && wanted[arena(step.output)] && !refused[arena(step.output)] &&
                               is_alone_at<Program>(launch, step.operands.items[i]);
            refused[buffer] = refused[buffer] || !(is_attended || stays);
        }
        if (kernel.kind == KernelKind::gemm && arena(step.input) != buffers) {
            const std::size_t buffer = arena(step.input);
            const auto bytes = static_cast<std::size_t>(kernel.rows() * kernel.k) * sizeof(float);
            const bool whole = step.input.offset == 0 && step.input.position < 0 && kernel.input_stride == kernel.k &&
                               kernel.k % 8 == 0 &&
                               lowering_detail::buffers_of<Program>[buffer].bytes == aligned_size(bytes);
            wanted[buffer] = true;
            refused[buffer] = refused[buffer] || launch.has_reduction || !whole;
        }
        if (arena(step.output) != buffers) {
            const std::size_t buffer = arena(step.output);
            const bool is_epilogue = kernel.kind == KernelKind::gemm && !launch.direct.is_possible;
            const bool is_copied = kernel.kind == KernelKind::structural && kernel.op == Op::concatenate;
            const bool can_round = (kernel.kind == KernelKind::pointwise || is_copied) && kernel.dtype == DType::f32 &&
                                   is_alone_at<Program>(launch, step.output);
            refused[buffer] = refused[buffer] || !(attends || is_epilogue || can_round) || step.output.position >= 0;
        }
    }

    /// For each buffer, whether it is stored as bf16.
    [[nodiscard]] constexpr Flags find_bf16() const {
        Flags wanted{};
        Flags refused{};
        const auto mark_all = [&] {
            for (std::size_t l = 0; l < count; ++l) {
                const Launch& launch = launches[l];
                for (int i = launch.first; i < launch.first + launch.count; ++i) {
                    mark_uses(launch, i, wanted, refused);
                }
            }
        };
        if (streams) {
            mark_all();
            refused = {};  // what is copied must know what is wanted of the copy
        }
        Flags before{};
        bool goes_on = streams;
        while (goes_on) {  // what one step refuses, an earlier one may share
            before = refused;
            mark_all();
            goes_on = before != refused;
        }
        Flags result{};
        for (std::size_t i = 0; i < buffers; ++i) {
            result[i] = wanted[i] && !refused[i];
        }
        return result;
    }

    /// Orders the steps of a launch: what follows is told in that order.
    constexpr void order(Launch& launch) {
        if (launch.kind == LaunchKind::segment) {
            lowering_detail::order_segment<Program>(launch, local);
        } else {
            lowering_detail::order_steps<Program>(launch, &lowering_detail::may_overlap<Program>);
            launch.is_wide = launch.kind == LaunchKind::rows && lowering_detail::has_wide_rows<Program>(launch);
        }
        const auto aside = launch.aside;
        for (std::size_t i = 0; i < static_cast<std::size_t>(launch.count); ++i) {
            launch.aside[i] = aside[static_cast<std::size_t>(launch.order[i])];
        }
    }

    constexpr void describe_steps(Launch& launch) const {
        using namespace lowering_detail;
        for (std::size_t i = 0; i < static_cast<std::size_t>(launch.count); ++i) {
            const int index = launch.first + launch.order[i];
            launch.kernels[i] = step_of<Program>(index).kernel;
            launch.stores_bf16[i] = stores_bf16(step_of<Program>(index).output);
            launch.copies_bf16[i] = is_copy(step_of<Program>(index), kernel_of<Program>(index)) &&
                                    stores_bf16(step_of<Program>(index).operands[0]);
            launch.aligned[i] = is_aligned<Program>(index);
        }
        if (is_attention(launch)) {
            launch.query_is_bf16 = stores_bf16(step_of<Program>(launch.first).operands[0]);
            launch.keys_are_bf16 = stores_bf16(step_of<Program>(launch.first).operands[1]);
        }
    }

    constexpr void describe_gemms(Launch& launch) const {
        using namespace lowering_detail;
        if (launch.kind == LaunchKind::gemm) {
            // Accumulators of several GEMMs lie side by side: one that is not aligned moves the others.
            const auto begin = launch.aligned.begin() + launch.norms();
            const auto end = begin + launch.gemms();
            std::fill(begin, end, std::find(begin, end, false) == end);
        }
        find_layer<Program>(launch);
        const Reference& input = step_of<Program>(launch.first_gemm()).input;
        launch.gemm = gemm_group<Program>(launch, streams, stores_bf16(input));
        launch.input_moves = input.position >= 0;
        for (int i = 0; i < launch.gemms(); ++i) {
            const auto place = static_cast<std::size_t>(i);
            const int step = launch.first_gemm() + i;
            launch.weights[place] = weight_operands<Program>(step);
            launch.scales[place] = launch.has_reduction ? scale_operand<Program>(step, launch.first) : -1;
        }
    }
};

}  // namespace totograph::cuda
