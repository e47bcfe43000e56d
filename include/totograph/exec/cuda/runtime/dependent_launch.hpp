// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/next_begins.hpp>

namespace totograph::cuda {

// Programmatic dependent launch: a kernel may begin while the one before it still runs, which lets it do so when all
// its blocks have called `launch_dependents`. Every kernel waits for the end of the one before it, and so for the end
// of all before. What it reads ahead of that wait must not be written by a kernel that may still run:
//
// - weights are written by none;
// - what launches before the last one wrote (`Launch::prefix_is_early`, `residual_is_early`) can be read where the last
//   one called `launch_dependents` after its own wait: all before it have ended then.
//
// Kernels of a library are launched without the attribute, and begin when all before ended.

/// Lets the next kernel begin.
__device__ __forceinline__ void launch_dependents() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until all that was launched before has finished and its results can be read.
__device__ __forceinline__ void wait_for_predecessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The same, not before `address` is known, which loads above use: else the compiler moves the wait to the top of a
/// kernel, and what is loaded before it comes after. The address is never null: a null one would not wait.
__device__ __forceinline__ void wait_for_predecessor([[maybe_unused]] const void* address) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("{.reg .pred known; setp.ne.u64 known, %0, 0; @known griddepcontrol.wait;}" ::"l"(address) : "memory");
#endif
}

/// Both, in the order that `next` says.
template <NextBegins next>
__device__ __forceinline__ void wait_and_launch_dependents() {
    if constexpr (next == NextBegins::at_once) {
        launch_dependents();
    }
    wait_for_predecessor();
    if constexpr (next == NextBegins::after_wait) {
        launch_dependents();
    }
}

}  // namespace totograph::cuda
