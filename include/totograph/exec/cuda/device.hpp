// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/check.hpp>

namespace totograph::cuda {

/// What executors ask of a device.
struct Device {
    int index = 0;
    int multiprocessors = 0;
    int major = 0;
    int minor = 0;
    int shared_memory_per_block = 0;  ///< Bytes, opted in.
    std::string name;

    /// Thread-block clusters and programmatic dependent launch.
    [[nodiscard]] bool has_clusters() const { return major >= 9; }
};

/// Makes a device current in this thread and describes it. Throws `Error` when there is none of this index, the driver
/// is too old, or the device is older than compute capability 8.0.
inline Device use_device(int index = 0) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "looking for devices");
    if (index < 0 || index >= count) {
        throw Error(ErrorCode::device_failure, "cuda: device " + std::to_string(index) +
                                                   " was asked for, and there are " + std::to_string(count) +
                                                   "; choose one below that.");
    }
    check(cudaSetDevice(index), "choosing a device");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, index), "asking a device for its properties");
    if (properties.major < 8) {
        throw Error(ErrorCode::device_failure, std::string("cuda: '") + properties.name + "' has compute capability " +
                                                   std::to_string(properties.major) + "." +
                                                   std::to_string(properties.minor) +
                                                   ", but 8.0 or later is needed; use the CPU executor there.");
    }
    return {index,
            properties.multiProcessorCount,
            properties.major,
            properties.minor,
            static_cast<int>(properties.sharedMemPerBlockOptin),
            properties.name};
}

}  // namespace totograph::cuda
