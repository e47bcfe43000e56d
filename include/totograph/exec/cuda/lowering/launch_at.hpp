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
    using Entries = Lowering<Program, streams>;
    static constexpr Launch launch =
        Entries::template entries_from<index - index % Entries::chunk>[index % Entries::chunk];

    static constexpr KernelStorage storage_of(std::size_t step) {
        return flag_if(launch.stores_bf16[step], KernelStorage::bf16_output) |
               flag_if(launch.copies_bf16[step], KernelStorage::bf16_copy) |
               flag_if(launch.aligned[step], KernelStorage::aligned_rows) |
               flag_if(launch.query_is_bf16, KernelStorage::bf16_query) |
               flag_if(launch.keys_are_bf16, KernelStorage::bf16_keys) |
               flag_if(launch.prefix_is_early, KernelStorage::early_prefix);
    }

    /// The kernel of one of its steps.
    template <int step>
    using KernelAt =
        KernelOf<OwnProgram<Program>, static_cast<std::size_t>(launch.kernels[static_cast<std::size_t>(step)]),
                 storage_of(static_cast<std::size_t>(step))>;
};

/// The norm that begins a launch as a type; `None` where there is none.
template <class At, class None, bool begins_with_norm = At::launch.has_reduction>
struct NormAt {
    using type = None;
};
template <class At, class None>
struct NormAt<At, None, true> {
    using type = typename At::template KernelAt<0>;
};

}  // namespace totograph::cuda
