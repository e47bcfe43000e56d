// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>

// Launches and their kernels as types.

namespace totograph::cuda {

/// A launch of a program as a type: templates read this small constant and nothing else of the program.
template <class Program, bool streams, std::size_t index>
struct LaunchAt {
    static constexpr Launch launch = Lowering<Program, streams>::at(index);

    static constexpr KernelStorage storage_of(std::size_t step) {
        return {.stores_bf16 = launch.stores_bf16[step],
                .is_aligned = launch.aligned[step],
                .query_is_bf16 = launch.query_is_bf16,
                .keys_are_bf16 = launch.keys_are_bf16,
                .prefix_is_early = launch.prefix_is_early};
    }

    /// The kernel of one of its steps.
    template <int step>
    using KernelAt =
        KernelOf<OwnProgram<Program>, static_cast<std::size_t>(launch.kernels[static_cast<std::size_t>(step)]),
                 storage_of(static_cast<std::size_t>(step))>;
};

}  // namespace totograph::cuda
