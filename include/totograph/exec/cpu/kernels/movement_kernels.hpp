// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/graph/kernel.hpp>

// Copies, scans and softmax: bound by memory, or small. They read their kernel at run time, so that one function serves
// all programs.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace movement_detail {

void take(const Kernel& kernel, const KernelCall& call) noexcept;
void concatenate(const Kernel& kernel, const KernelCall& call) noexcept;
/// The first operand goes into the state; a second one is the position.
void store(const Kernel& kernel, const KernelCall& call) noexcept;
void cumsum(const Kernel& kernel, const KernelCall& call) noexcept;
void running_moments(const Kernel& kernel, const KernelCall& call) noexcept;
/// Rows of a table, in parts of the iteration, `[..., width]`.
void embedding(const Kernel& kernel, const KernelCall& call) noexcept;
void argmax(const Kernel& kernel, const KernelCall& call) noexcept;
/// Each row in increasing order; NaNs go last.
void sort(const Kernel& kernel, const KernelCall& call) noexcept;
void softmax(const Kernel& kernel, const KernelCall& call) noexcept;

}  // namespace movement_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/kernels/impl/movement_kernels.hpp>
#endif
