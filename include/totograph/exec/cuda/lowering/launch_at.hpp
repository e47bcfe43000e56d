// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>

// Launches and their kernels as types.

namespace totograph::cuda {

/// A launch of a program as a type: templates read this small constant and nothing else of the program.
template <class Program, bool streams, std::size_t index>
struct LaunchAt {
    static constexpr Launch launch = Lowering<Program, streams>::at(index);

    /// The kernel of one of its steps.
    template <int step>
    using KernelAt =
        KernelOf<Program, static_cast<std::size_t>(launch.kernels[static_cast<std::size_t>(step)]),
                 launch.rounds[static_cast<std::size_t>(step)], launch.aligned[static_cast<std::size_t>(step)],
                 launch.query_is_bf16, launch.keys_are_bf16, launch.prefix_is_early>;
};

}  // namespace totograph::cuda
