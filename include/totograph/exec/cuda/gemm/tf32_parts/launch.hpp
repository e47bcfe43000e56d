// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <totograph/exec/cuda/gemm/cublaslt/gemm_shape.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

namespace totograph::cuda {

/// Launches a GEMM in f32 as `fits_tf32_parts` names it: out = x W^T [+ residual] [+ bias]. Each product is three of
/// tf32 parts, 32 of which tensor cores add up. What is summed, and in which order, depends on k alone. An infinity in
/// x or W, or a number of x within a 4096th of the largest float, makes NaN there. Throws `Error` when the launch is
/// refused. (A template: a program without f32 has no such kernels to compile.)
template <Precision precision>
requires(precision == Precision::f32) void launch_tf32_parts_gemm(const KernelLauncher& launcher,
                                                                  const DeviceTraits& device, const GemmShape& shape,
                                                                  const GemmPointers& pointers, cudaStream_t stream);

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION)
#include <totograph/exec/cuda/gemm/tf32_parts/impl/launch.hpp>
#endif
