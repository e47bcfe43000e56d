// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/gemm/cublaslt/gemm.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

namespace totograph::cuda {

namespace gemm_detail {

TOTOGRAPH_CUDA_INLINE cudaDataType_t input_type(const GemmShape& shape) {
    return shape.precision == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

TOTOGRAPH_CUDA_INLINE cudaDataType_t output_type(const GemmShape& shape) {
    return shape.stores_bf16_accumulators ? CUDA_R_16BF : CUDA_R_32F;
}

TOTOGRAPH_CUDA_INLINE MatmulDescription describe_matmul(const GemmShape& shape) {
    cublasLtMatmulDesc_t made = nullptr;
    check(
        cublasLtMatmulDescCreate(
            &made, shape.precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
        "describing a gemm");
    MatmulDescription description(made);
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
        check(cublasLtMatmulDescSetAttribute(made, attribute, &value, sizeof value), "describing a gemm");
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    if (shape.has_bias) {
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
        set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_32F);
    }
    return description;
}

TOTOGRAPH_CUDA_INLINE MatrixDescription describe_matrix(cudaDataType_t type, Index first, Index second, Index stride) {
    cublasLtMatrixLayout_t made = nullptr;
    check(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(second),
                                     stride),
          "describing a matrix");
    return MatrixDescription(made);
}

}  // namespace gemm_detail

TOTOGRAPH_CUDA_INLINE std::string gemm_key(const GemmShape& shape) {
    // A field that is added to the shape must be added here: this does not compile until it is.
    const auto& [m, n, k, input_stride, output_stride, precision, has_bias, residual_stride, alignment,
                 stores_bf16_accumulators] = shape;
    return std::to_string(m) + "x" + std::to_string(k) + " (stride " + std::to_string(input_stride) + ") by " +
           std::to_string(n) + " (stride " + std::to_string(output_stride) + ") in " + name(precision) +
           (has_bias ? ", bias" : "") +
           (residual_stride > 0 ? ", residual (stride " + std::to_string(residual_stride) + ")" : "") +
           (stores_bf16_accumulators ? ", bf16 accumulators" : "") + ", aligned to " + std::to_string(alignment) +
           ", workspace " + std::to_string(gemm_workspace_bytes);
}

TOTOGRAPH_CUDA_INLINE CublasLtGemm::CublasLtGemm(cublasLtHandle_t handle, const GemmShape& shape)
    : handle_(handle),
      shape_(shape),
      operation_(gemm_detail::describe_matmul(shape)),
      weight_(gemm_detail::describe_matrix(gemm_detail::input_type(shape), shape.k, shape.n, shape.k)),
      input_(gemm_detail::describe_matrix(gemm_detail::input_type(shape), shape.k, shape.m, shape.input_stride)),
      output_(gemm_detail::describe_matrix(gemm_detail::output_type(shape), shape.n, shape.m, shape.output_stride)),
      residual_(
          gemm_detail::describe_matrix(gemm_detail::output_type(shape), shape.n, shape.m,
                                       shape.residual_stride == 0 ? shape.output_stride : shape.residual_stride)) {}

TOTOGRAPH_CUDA_INLINE std::vector<GemmAlgorithm> CublasLtGemm::candidates(int most) const {
    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made), "asking for algorithms");
    const MatmulPreference preference(made);
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
        check(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
              "asking for algorithms");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, gemm_workspace_bytes);
    for (const auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
        prefer(attribute, shape_.alignment);
    }
    cublasLtMatmulHeuristicResult_t found[most_candidates];
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle_, operation_.get(), weight_.get(), input_.get(), residual_.get(),
                                       output_.get(), preference.get(), std::min(most, most_candidates), found, &count);
    if (status != CUBLAS_STATUS_SUCCESS || count == 0) {
        throw Error(ErrorCode::device_failure, "cuda: cuBLASLt has no algorithm for a gemm of " +
                                                   std::to_string(shape_.m) + "x" + std::to_string(shape_.k) + " by " +
                                                   std::to_string(shape_.n) + " in " + name(shape_.precision) +
                                                   "; use another precision, or other sizes.");
    }
    std::vector<GemmAlgorithm> algorithms;
    for (int i = 0; i < count; ++i) {
        const auto is_it = [&](const GemmAlgorithm& other) {
            return std::memcmp(&other.value, &found[i].algo, sizeof other.value) == 0;
        };
        if (std::none_of(algorithms.begin(), algorithms.end(), is_it)) {  // cuBLASLt may name one twice
            algorithms.push_back({found[i].algo});
        }
    }
    return algorithms;
}

TOTOGRAPH_CUDA_INLINE bool CublasLtGemm::accepts(const GemmAlgorithm& algorithm) const {
    cublasLtMatmulHeuristicResult_t result{};
    const cublasStatus_t status = cublasLtMatmulAlgoCheck(handle_, operation_.get(), weight_.get(), input_.get(),
                                                          residual_.get(), output_.get(), &algorithm.value, &result);
    return status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= gemm_workspace_bytes;
}

TOTOGRAPH_CUDA_INLINE void CublasLtGemm::launch(const void* input, const void* weight, void* output,
                                                const float* residual, const float* bias, void* workspace,
                                                cudaStream_t stream) const {
    check(try_launch(algorithm_, input, weight, output, residual, bias, workspace, stream), "launching a gemm");
}

TOTOGRAPH_CUDA_INLINE cublasStatus_t CublasLtGemm::try_launch(const GemmAlgorithm& algorithm, const void* input,
                                                              const void* weight, void* output, const float* residual,
                                                              const float* bias, void* workspace,
                                                              cudaStream_t stream) const {
    if (shape_.has_bias) {
        cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    }
    const float one = 1;
    const float residual_factor = shape_.residual_stride == 0 ? 0.0F : 1.0F;
    return cublasLtMatmul(handle_, operation_.get(), &one, weight, weight_.get(), input, input_.get(), &residual_factor,
                          residual == nullptr ? output : residual, residual_.get(), output, output_.get(),
                          &algorithm.value, workspace, gemm_workspace_bytes, stream);
}

}  // namespace totograph::cuda
