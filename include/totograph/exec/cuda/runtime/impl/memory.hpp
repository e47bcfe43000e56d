// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/memory.hpp>

#include <cstddef>
#include <string>

#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>

namespace totograph::cuda {

TOTOGRAPH_CUDA_INLINE HeldMemory& held_memory() noexcept {
    static HeldMemory held;
    return held;
}

TOTOGRAPH_CUDA_INLINE DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) {
        return;
    }
    const cudaError_t status = cudaMalloc(&data_, bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // the error is handled here: later calls must not see it
        std::size_t free = 0;
        std::size_t total = 0;
        cudaMemGetInfo(&free, &total);
        throw Error(ErrorCode::out_of_memory, "cuda: " + std::to_string(bytes) +
                                                  " bytes of device memory were asked for, " + std::to_string(free) +
                                                  " of " + std::to_string(total) +
                                                  " are free; use smaller sizes, or free memory.");
    }
    check(status, "allocating device memory");
    held_memory().device += bytes;
}

TOTOGRAPH_CUDA_INLINE DeviceMemory::~DeviceMemory() {
    if (data_ != nullptr) {
        cudaFree(data_);
        held_memory().device -= bytes_;
    }
}

TOTOGRAPH_CUDA_INLINE PinnedMemory::PinnedMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) {
        return;
    }
    const cudaError_t status = cudaMallocHost(&data_, bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        throw Error(ErrorCode::out_of_memory, "cuda: " + std::to_string(bytes) +
                                                  " bytes of page-locked host memory were asked for, and the "
                                                  "system has not as many; use smaller sizes, or raise the "
                                                  "limit of locked memory.");
    }
    check(status, "allocating page-locked memory");
    held_memory().pinned += bytes;
}

TOTOGRAPH_CUDA_INLINE PinnedMemory::~PinnedMemory() {
    if (data_ != nullptr) {
        cudaFreeHost(data_);
        held_memory().pinned -= bytes_;
    }
}

}  // namespace totograph::cuda
