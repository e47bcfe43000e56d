// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

namespace totograph::cuda {

namespace check_detail {

/// Throws the `Error` that tells of a call that failed.
[[noreturn]] void report_failure(cudaError_t status, const char* what);

}  // namespace check_detail

/// Throws `Error` unless a call of the CUDA runtime succeeded. `what` is the call in words, such as "copying weights".
inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) [[unlikely]] {
        check_detail::report_failure(status, what);
    }
}

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/runtime/impl/check.hpp>
#endif
