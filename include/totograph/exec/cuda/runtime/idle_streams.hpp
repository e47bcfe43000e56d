// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/runtime/check.hpp>

namespace totograph::cuda {

/// What a stream is used for.
enum class StreamUse : std::uint8_t {
    kernels,  ///< Anything.
    graphs,   ///< Graphs, and copies between host and device, alone.
};

/// Streams of this process that nobody uses now.
///
/// They are used again rather than destroyed, each for what it was used for: once a process has launched kernels or set
/// memory, outside of graphs, on more than 16 streams, those that are gone among them, each kernel of each graph takes
/// 0.18 us longer, for good (an H200, CUDA 13.0). That is some percent of a graph of short kernels. Graphs and copies
/// do not count: there may be any number of streams for them. (After `cudaDeviceReset` none of these streams can be
/// used.)
class IdleStreams {
public:
    static IdleStreams& instance() {
        static auto* const streams = new IdleStreams;  // never destroyed: streams of static objects come back late
        return *streams;
    }

    /// A stream of the device, which must be current; the caller's alone until it comes back.
    cudaStream_t take(int device, StreamUse use) {
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

    /// Takes back a stream of a device. What is still on it comes before what its next user puts there.
    void give_back(int device, StreamUse use, cudaStream_t stream) noexcept {
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

private:
    std::mutex mutex_;
    std::map<std::pair<int, StreamUse>, std::vector<cudaStream_t>> idle_;
};

}  // namespace totograph::cuda
