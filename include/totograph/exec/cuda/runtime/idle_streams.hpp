// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/runtime/stream_use.hpp>

namespace totograph::cuda {

/// Streams of this process that nobody uses now.
///
/// They are used again rather than destroyed, each for what it was used for: once a process has launched kernels or set
/// memory, outside of graphs, on more than 16 streams, those that are gone among them, each kernel of each graph takes
/// 0.18 us longer, for good (an H200, CUDA 13.0). That is some percent of a graph of short kernels. Graphs and copies
/// do not count: there may be any number of streams for them. (After `cudaDeviceReset` none of these streams can be
/// used.)
class IdleStreams {
public:
    static IdleStreams& instance();

    /// A stream of the device, which must be current; the caller's alone until it comes back.
    cudaStream_t take(int device, StreamUse use);

    /// Takes back a stream of a device. What is still on it comes before what its next user puts there.
    void give_back(int device, StreamUse use, cudaStream_t stream) noexcept;

private:
    std::mutex mutex_;
    std::map<std::pair<int, StreamUse>, std::vector<cudaStream_t>> idle_;
};

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/runtime/impl/idle_streams.hpp>
#endif
