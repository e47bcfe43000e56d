// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

// What is known of GEMMs without the headers of cuBLASLt, which take nvcc as long as many of ours.

namespace totograph::cuda {

/// The sizes of a GEMM as cuBLASLt computes it, and `tf32_parts`: out = x W^T [+ residual] [+ bias], all row-major. `x`
/// and `W` are bf16 or f32 by the precision, everything else f32, but for accumulators that another kernel goes on
/// with.
struct GemmShape {
    Index m = 0;
    Index n = 0;
    Index k = 0;
    Index input_stride = 0;   ///< Elements from one row of x to the next.
    Index output_stride = 0;  ///< Likewise of the result.
    Precision precision = Precision::f32;
    bool has_bias = false;
    Index residual_stride = 0;              ///< 0: no residual.
    std::uint32_t alignment = 16;           ///< Bytes to which every pointer is aligned.
    bool stores_bf16_accumulators = false;  ///< The result is bf16; without bias and residual only.

    friend constexpr bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// Bytes of workspace that a GEMM may use.
inline constexpr std::size_t gemm_workspace_bytes = std::size_t{32} << 20;

/// What a GEMM of cuBLASLt reads and writes.
struct GemmPointers {
    const void* input = nullptr;
    const void* weight = nullptr;
    void* output = nullptr;
    const float* residual = nullptr;
    const float* bias = nullptr;
};

}  // namespace totograph::cuda
