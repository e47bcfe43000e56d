// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/device.hpp>

#include <cstddef>
#include <string>

#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>

namespace totograph::cuda {

TOTOGRAPH_CUDA_INLINE CurrentDevice::CurrentDevice(int index) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "looking for devices");
    if (index < 0 || index >= count) {
        throw Error(ErrorCode::device_failure, "cuda: device " + std::to_string(index) +
                                                   " was asked for, and there are " + std::to_string(count) +
                                                   "; choose one below that.");
    }
    check(cudaGetDevice(&before_), "asking for the device in use");
    if (index != before_) {
        check(cudaSetDevice(index), "choosing a device");
        changed_ = true;
    }
}

TOTOGRAPH_CUDA_INLINE CurrentDevice::~CurrentDevice() {
    if (changed_) {
        cudaSetDevice(before_);
    }
}

namespace device_detail {

/// Whether the code that the current device runs has them.
TOTOGRAPH_CUDA_INLINE bool has_wgmma_code(const void* probe) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, probe), "looking for device code for this device");
    return attributes.sharedSizeBytes > 0;
}

/// Clusters of so many blocks that run at once on the current device, when each block has a multiprocessor to itself; 0
/// where that is not known.
/// @param probe         `wgmma_probe`
/// @param blocks        of a cluster
/// @param shared_bytes  shared memory of a multiprocessor
TOTOGRAPH_CUDA_INLINE int clusters_at_once(const void* probe, int blocks, std::size_t shared_bytes) {
    const std::size_t shared_bytes_of_block = shared_bytes / 2;  // with what any block has beside, two do not fit
    check(cudaFuncSetAttribute(probe, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes_of_block)),
          "asking for shared memory");
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(blocks);
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(warpgroup_size);
    config.dynamicSmemBytes = shared_bytes_of_block;
    config.attrs = &cluster;
    config.numAttrs = 1;
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, probe, &config) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return clusters;
}

TOTOGRAPH_CUDA_INLINE Device describe_device(int index, const DeviceProbes& probes) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, index), "asking a device for its properties");
    if (properties.major < 8) {
        throw Error(ErrorCode::device_failure, std::string("cuda: '") + properties.name + "' has compute capability " +
                                                   std::to_string(properties.major) + "." +
                                                   std::to_string(properties.minor) +
                                                   ", but 8.0 or later is needed; use the CPU executor there.");
    }
    cudaFuncAttributes code{};
    check(cudaFuncGetAttributes(&code, probes.code), "looking for device code for this device");
    // Code that the driver compiled from PTX of an older architecture lacks what that architecture lacks.
    const bool has_clusters = properties.major >= 9 && code.ptxVersion >= 90;
    Device device;
    device.major = properties.major;
    device.minor = properties.minor;
    device.multiprocessors = properties.multiProcessorCount;
    device.shared_bytes = properties.sharedMemPerMultiprocessor;
    device.shared_bytes_of_block = properties.sharedMemPerBlockOptin;
    device.has_clusters = has_clusters;
    device.has_wgmma = has_clusters && properties.major == 9 && has_wgmma_code(probes.wgmma);
    device.row_clusters =
        device.has_wgmma ? clusters_at_once(probes.wgmma, row_cluster_blocks, device.shared_bytes) : 0;
    device.index = index;
    device.name = properties.name;
    device.cache_bytes = properties.l2CacheSize;
    return device;
}

}  // namespace device_detail

}  // namespace totograph::cuda
