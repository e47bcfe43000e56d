// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>

namespace totograph::cuda {

/// How a kernel is spread over the device.
struct Spread {
    Index blocks = 1;
    int threads = block_threads;
    int cluster = 1;               ///< Blocks that can wait for each other; 1 where the device has no clusters.
    std::size_t shared_bytes = 0;  ///< Of shared memory, beside what the kernel declares.
};

/// Launches kernels that may begin before the one before them has ended.
class KernelLauncher {
public:
    /// @param has_clusters  the device has clusters and programmatic dependent launch
    /// @param overlaps      use the latter
    KernelLauncher(bool has_clusters, bool overlaps)
        : has_clusters_(has_clusters), overlaps_(has_clusters && overlaps) {}

    /// Throws `Error` when the launch is refused.
    template <class... Parameters, class... Arguments>
    void launch(void (*kernel)(Parameters...), const Spread& spread, cudaStream_t stream,
                Arguments&&... arguments) const {
        // As the kernel takes them.
        const auto launch_with = [&](const Parameters&... parameters) {
            const void* pointers[] = {&parameters...};
            launch_function(reinterpret_cast<const void*>(kernel), spread, stream, const_cast<void**>(pointers));
        };
        launch_with(std::forward<Arguments>(arguments)...);
    }

private:
    /// No template: what is the same for all kernels is compiled once.
    void launch_function(const void* kernel, const Spread& spread, cudaStream_t stream, void** arguments) const {
        if (spread.shared_bytes > 0) {  // with what it declares, it may be more than a kernel gets unasked
            check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(spread.shared_bytes)),
                  "asking for shared memory");
        }
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(static_cast<unsigned>(spread.blocks));
        config.blockDim = dim3(static_cast<unsigned>(spread.threads));
        config.dynamicSmemBytes = spread.shared_bytes;
        config.stream = stream;
        cudaLaunchAttribute attributes[2];
        unsigned count = 0;
        if (overlaps_) {
            attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
            attributes[count++].val.programmaticStreamSerializationAllowed = 1;
        }
        if (has_clusters_ && spread.cluster > 1) {
            attributes[count].id = cudaLaunchAttributeClusterDimension;
            attributes[count].val.clusterDim.x = static_cast<unsigned>(spread.cluster);
            attributes[count].val.clusterDim.y = 1;
            attributes[count++].val.clusterDim.z = 1;
        }
        config.attrs = attributes;
        config.numAttrs = count;
        check(cudaLaunchKernelExC(&config, kernel, arguments), "launching a kernel");
    }

    bool has_clusters_;
    bool overlaps_;
};

/// Waits for what is on a stream, so that an error shows where it happens; not while the stream is captured.
inline void wait_unless_capturing(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status), "asking whether a stream is captured");
    if (status == cudaStreamCaptureStatusNone) {
        check(cudaStreamSynchronize(stream), "waiting for a kernel");
    }
}

}  // namespace totograph::cuda
