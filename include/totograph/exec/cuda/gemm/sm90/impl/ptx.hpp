// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>

#include <cstdint>
#include <string>

#include <cuda.h>
#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>

namespace totograph::cuda {

TOTOGRAPH_CUDA_INLINE CUtensorMap make_tma_descriptor(const void* matrix, std::uint64_t rows, std::uint64_t k,
                                                      std::uint32_t tile_rows, MmaOperand operand,
                                                      std::uint64_t row_stride) {
    using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    static const Encode encode = [] {
        void* entry = nullptr;
        cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
        check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found),
              "looking for the driver's description of tiles");
#else
        check(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &found),
              "looking for the driver's description of tiles");
#endif
        return found == cudaDriverEntryPointSuccess ? reinterpret_cast<Encode>(entry) : nullptr;
    }();
    CUtensorMap map{};
    const cuuint64_t extents[2] = {k, rows};
    const auto bytes = static_cast<cuuint32_t>(bytes_of(operand));
    const cuuint64_t strides[1] = {row_stride * bytes};
    const cuuint32_t box[2] = {128 / bytes, tile_rows};
    const cuuint32_t steps[2] = {1, 1};
    const CUtensorMapDataType type =
        operand == MmaOperand::tf32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    const bool is_made = encode != nullptr &&
                         encode(&map, type, 2, const_cast<void*>(matrix), extents, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
    if (!is_made) {
        throw Error(ErrorCode::device_failure,
                    "cuda: the driver cannot describe tiles of a matrix of " + std::to_string(rows) + " rows of " +
                        std::to_string(k) + (operand == MmaOperand::tf32 ? " f32; update it." : " bf16; update it."));
    }
    return map;
}

}  // namespace totograph::cuda
