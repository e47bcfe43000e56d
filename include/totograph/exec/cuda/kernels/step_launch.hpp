// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/attention/tile_attention.hpp>
#include <totograph/exec/cuda/gemm/skinny/launch.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_block.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/step_kernels.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/launch_at.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

// Launches that ask nothing of a library: a step, several in one kernel, skinny GEMMs.

namespace totograph::cuda {

/// Launches one step on the whole device.
template <class K, Precision precision>
void launch_step(const KernelLauncher& launcher, const Device& device, const KernelCall& call, cudaStream_t stream) {
    if constexpr (can_tile<K>(precision)) {
        launch_tile_attention<K, precision>(launcher, device, call, stream);
    } else if constexpr (blocks_of_item<K>() > 1) {
        const int together = device.has_clusters ? blocks_of_item<K>() : 1;
        launcher.launch(&step_kernel<K>, {blocks_wanted<K>() * together, block_threads, together}, stream, call);
    } else {
        launcher.launch(&step_kernel<K>, {blocks_for(device, blocks_wanted<K>())}, stream, call);
    }
}

/// Launches the steps of a segment or of rows, as one kernel.
/// @param call_of  gives what a step of the program is launched with
template <class Lowered, class At, class CallOf>
void launch_sequence(const KernelLauncher& launcher, const Device& device, const CallOf& call_of, cudaStream_t stream) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
        constexpr std::uint64_t barriers =
            ((std::uint64_t{At::launch.barriers[static_cast<std::size_t>(i)] ? 1U : 0U} << i) | ...);
        constexpr int steps[] = {At::launch.first + At::launch.order[static_cast<std::size_t>(i)]...};
        const StepCalls<sizeof...(i)> calls{{call_of(steps[i])...}, {Lowered::local_bits(steps[i])...}};
        constexpr std::uint64_t aside =
            ((std::uint64_t{At::launch.aside[static_cast<std::size_t>(i)] ? 1U : 0U} << i) | ...);
        constexpr int threads = At::launch.is_wide ? wide_block_threads : block_threads;
        if constexpr (At::launch.kind == LaunchKind::rows) {
            using Steps = RowSegment<At::launch.rows, threads, barriers, aside, typename At::template KernelAt<i>...>;
            launcher.launch(&segment_kernel<Steps, false>, {Steps::blocks, threads}, stream, calls);
        } else {
            using Steps = Segment<At::launch.blocks, threads, barriers, aside, typename At::template KernelAt<i>...>;
            const int blocks = device.has_clusters ? At::launch.blocks : 1;
            launcher.launch(&segment_kernel<Steps, (At::launch.local_bytes > 0)>,
                            {blocks * Steps::parts, threads, blocks, At::launch.local_bytes}, stream, calls);
        }
    }
    (std::make_integer_sequence<int, At::launch.count>());
}

/// Launches GEMMs of few rows with one input, and the norm before them.
/// @param call_of  gives what a step of the program is launched with
template <class At, Precision precision, class CallOf>
void launch_skinny(const KernelLauncher& launcher, const CallOf& call_of, BFloat16* stored_input, cudaStream_t stream) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
        constexpr bool takes_bf16 = At::launch.takes_bf16;
        static_assert(!takes_bf16 || !At::launch.leaves_bf16,
                      "totograph: there is room for one input that a launch leaves to the next one.");
        using Input = std::conditional_t<At::launch.gemm.input_is_bf16 || takes_bf16, BFloat16, float>;
        using Group = SkinnyGroup<
            At::launch.next_begins, typename NormAt<At, NoReduction>::type,
            SkinnyMember<typename At::template KernelAt<At::launch.norms() + i>, Input,
                         At::launch.scales[static_cast<std::size_t>(i)],
                         At::launch.weights[static_cast<std::size_t>(i)], At::launch.leaves_bf16, precision>...>;
        typename Group::Calls calls{{call_of(At::launch.first_gemm() + i)...}, stored_input};
        if constexpr (takes_bf16) {
            ((calls.call[i].input.base = stored_input), ...);
        }
        if constexpr (Group::norm_has_operands) {
            calls.call[Group::count] = call_of(At::launch.first);
        }
        launcher.launch(&skinny_kernel<Group>, Group::spread, stream, calls);
    }
    (std::make_integer_sequence<int, At::launch.gemms()>());
}

}  // namespace totograph::cuda
