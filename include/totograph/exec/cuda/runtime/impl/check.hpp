// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/check.hpp>

#include <string>

#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/inline.hpp>

namespace totograph::cuda {

namespace check_detail {

TOTOGRAPH_CUDA_INLINE void report_failure(cudaError_t status, const char* what) {
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

}  // namespace check_detail

}  // namespace totograph::cuda
