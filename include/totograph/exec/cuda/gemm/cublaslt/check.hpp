// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <totograph/exec/cuda/runtime/check.hpp>

namespace totograph::cuda {

namespace check_detail {

/// Throws the `Error` that tells of a call that failed.
[[noreturn]] void report_failure(cublasStatus_t status, const char* what);

}  // namespace check_detail

/// Throws `Error` unless a call of cuBLAS or cuBLASLt succeeded, as `check` of the CUDA runtime does.
inline void check(cublasStatus_t status, const char* what) {
    if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]] {
        check_detail::report_failure(status, what);
    }
}

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/gemm/cublaslt/impl/check.hpp>
#endif
