// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/error.hpp>

namespace totograph::cuda {

/// Throws `Error` unless a call of the CUDA runtime succeeded. `what` is the call in words, such as "copying weights".
inline void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) {
        return;
    }
    cudaGetLastError();  // it is told here: the next launch must not be blamed for it
    std::string advice;
    ErrorCode code = ErrorCode::device_failure;
    switch (status) {
        case cudaErrorMemoryAllocation:
            code = ErrorCode::out_of_memory;
            advice = "; use smaller sizes, or free memory of the device";
            break;
        case cudaErrorNoDevice:
            advice = "; this machine has no CUDA device: use the CPU executor, or run where there is one";
            break;
        case cudaErrorInsufficientDriver:
            advice =
                "; this machine has no CUDA driver, or one that is older than the CUDA version that this program was "
                "built with: update the driver, or use the CPU executor";
            break;
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorInvalidDeviceFunction:
            advice =
                "; the program holds no code for this device: compile it with this device's architecture in "
                "CMAKE_CUDA_ARCHITECTURES";
            break;
        default: break;
    }
    throw Error(code, std::string("cuda: ") + what + " failed: " + cudaGetErrorString(status) + " (" +
                          cudaGetErrorName(status) + ")" + advice + ".");
}

/// The same for cuBLASLt.
inline void check(cublasStatus_t status, const char* what) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        const bool is_full = status == CUBLAS_STATUS_ALLOC_FAILED;
        throw Error(is_full ? ErrorCode::out_of_memory : ErrorCode::device_failure,
                    std::string("cuda: ") + what + " failed: " + cublasLtGetStatusString(status) +
                        (is_full ? "; use smaller sizes, or free memory of the device." : "."));
    }
}

}  // namespace totograph::cuda
