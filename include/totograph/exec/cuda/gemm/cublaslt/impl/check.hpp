// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/gemm/cublaslt/check.hpp>

#include <string>

#include <cublasLt.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/inline.hpp>

namespace totograph::cuda::check_detail {

TOTOGRAPH_CUDA_INLINE void report_failure(cublasStatus_t status, const char* what) {
    const bool is_full = status == CUBLAS_STATUS_ALLOC_FAILED;
    throw Error(is_full ? ErrorCode::out_of_memory : ErrorCode::device_failure,
                std::string("cuda: ") + what + " failed: " + cublasLtGetStatusString(status) +
                    (is_full ? "; use smaller sizes, or free memory of the device." : "."));
}

}  // namespace totograph::cuda::check_detail
