// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/idle_streams.hpp>

#include <mutex>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>

namespace totograph::cuda {

TOTOGRAPH_CUDA_INLINE IdleStreams& IdleStreams::instance() {
    static auto* const streams = new IdleStreams;  // never destroyed: streams of static objects come back late
    return *streams;
}

TOTOGRAPH_CUDA_INLINE cudaStream_t IdleStreams::take(int device, StreamUse use) {
    const std::scoped_lock lock(mutex_);
    std::vector<cudaStream_t>& idle = idle_[{device, use}];
    if (!idle.empty()) {
        const cudaStream_t stream = idle.back();
        idle.pop_back();
        return stream;
    }
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    return stream;
}

TOTOGRAPH_CUDA_INLINE void IdleStreams::give_back(int device, StreamUse use, cudaStream_t stream) noexcept {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusNone) {
        try {
            const std::scoped_lock lock(mutex_);
            idle_[{device, use}].push_back(stream);
            return;
        } catch (...) {  // no memory to keep it
        }
    }
    cudaStreamDestroy(stream);
    cudaGetLastError();  // the next launch must not be blamed for it
}

}  // namespace totograph::cuda
