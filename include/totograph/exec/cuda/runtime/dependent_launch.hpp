// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace totograph::cuda {

// Programmatic dependent launch: a kernel may begin while the one before it still runs. What it reads before
// `wait_for_predecessor` must not be written by the kernel right before it: weights, and what earlier launches wrote
// (`Launch::prefix_is_early`, `residual_is_early`). Those have ended when it begins, because every kernel lets the
// next one begin after its own wait, and never before; kernels of a library are launched without the attribute, and
// begin when all before ended.

/// Lets the next kernel begin. Called right after the wait, as what kernels read early relies on; it would be no use
/// before either: kernels queue up on the multiprocessors and slow those that run (measured: 10% of a forecast of one
/// patch).
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

}  // namespace totograph::cuda
