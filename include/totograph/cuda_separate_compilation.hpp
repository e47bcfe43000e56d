// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The definitions of all functions of the CUDA executor that headers only declare when
/// TOTOGRAPH_SEPARATE_CUDA_COMPILATION is defined. One file of the program, which nvcc compiles for the same
/// architectures and with the same flags as the others, includes this; `totograph::cuda_compiled` in CMake is a library
/// of such a file.

#ifndef TOTOGRAPH_SEPARATE_CUDA_COMPILATION
#error \
    "totograph: cuda_separate_compilation.hpp is for programs all of whose files define TOTOGRAPH_SEPARATE_CUDA_COMPILATION."
#endif

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/explain/impl/explain.hpp>
#include <totograph/exec/cuda/explain/impl/explain_dot.hpp>
#include <totograph/exec/cuda/explain/impl/explain_words.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/impl/algorithm_timer.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/impl/check.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/impl/choosing_algorithms.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/impl/gemm.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/impl/gemms.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/impl/tuning.hpp>
#include <totograph/exec/cuda/gemm/sm90/impl/ptx.hpp>
#include <totograph/exec/cuda/gemm/tf32_parts/impl/launch.hpp>
#include <totograph/exec/cuda/runtime/impl/check.hpp>
#include <totograph/exec/cuda/runtime/impl/device.hpp>
#include <totograph/exec/cuda/runtime/impl/idle_streams.hpp>
#include <totograph/exec/cuda/runtime/impl/memory.hpp>
#include <totograph/exec/cuda/runtime/impl/memory_report.hpp>
#include <totograph/exec/cuda/runtime/impl/stream.hpp>
#include <totograph/exec/cuda/runtime/impl/uploader.hpp>
#include <totograph/exec/cuda/runtime/impl/weights.hpp>
#include <totograph/forecast/cuda/impl/gather_series.hpp>

namespace totograph::cuda {

template class DeviceWeights<float>;
template class DeviceWeights<BFloat16>;
template void launch_tf32_parts_gemm<Precision::f32>(const KernelLauncher& launcher, const DeviceTraits& device,
                                                     const GemmShape& shape, const GemmPointers& pointers,
                                                     cudaStream_t stream);

}  // namespace totograph::cuda
