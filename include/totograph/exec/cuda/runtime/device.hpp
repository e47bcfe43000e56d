// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>

namespace totograph::cuda {

/// What executors ask of a device. Its traits are those of the code that this program holds for it: a device of compute
/// capability 9.0 that runs code of `sm_80` has neither clusters nor `wgmma`.
struct Device : DeviceTraits {
    int index = 0;
    std::string name;
    int cache_bytes = 0;  ///< Of the last cache before memory, which all multiprocessors share.
};

/// Blocks of a kernel whose blocks share its work, when each thread could have as much of it as `wanted` blocks have.
inline Index blocks_for(const Device& device, Index wanted) {
    return std::min<Index>(wanted, static_cast<Index>(device.multiprocessors) * 16);
}

/// Never launched: its attributes tell for which architecture this program's device code was compiled.
template <class Unused = void>
__global__ void probe_kernel() {}

/// Makes a device current, and the one before it again at the end.
class CurrentDevice {
public:
    /// Throws `Error` when there is no device of this index.
    explicit CurrentDevice(int index) {
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
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;
    ~CurrentDevice() {
        if (changed_) {
            cudaSetDevice(before_);
        }
    }

private:
    int before_ = 0;
    bool changed_ = false;
};

/// Describes a device, which must be current. Throws `Error` when it is older than compute capability 8.0, or the
/// program holds no code for it.
inline Device describe_device(int index) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, index), "asking a device for its properties");
    if (properties.major < 8) {
        throw Error(ErrorCode::device_failure, std::string("cuda: '") + properties.name + "' has compute capability " +
                                                   std::to_string(properties.major) + "." +
                                                   std::to_string(properties.minor) +
                                                   ", but 8.0 or later is needed; use the CPU executor there.");
    }
    cudaFuncAttributes code{};
    check(cudaFuncGetAttributes(&code, &probe_kernel<>), "looking for device code for this device");
    // Code that the driver compiled from PTX of an older architecture lacks what that architecture lacks.
    const bool has_clusters = properties.major >= 9 && code.ptxVersion >= 90;
    Device device;
    device.major = properties.major;
    device.minor = properties.minor;
    device.multiprocessors = properties.multiProcessorCount;
    device.shared_bytes = properties.sharedMemPerMultiprocessor;
    device.shared_bytes_of_block = properties.sharedMemPerBlockOptin;
    device.has_clusters = has_clusters;
    device.has_wgmma = has_clusters && properties.major == 9 && has_wgmma_code();
    device.row_clusters = device.has_wgmma ? clusters_at_once(row_cluster_blocks, device.shared_bytes) : 0;
    device.index = index;
    device.name = properties.name;
    device.cache_bytes = properties.l2CacheSize;
    return device;
}

}  // namespace totograph::cuda
