// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
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
    explicit CurrentDevice(int index);
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;
    ~CurrentDevice();

private:
    int before_ = 0;
    bool changed_ = false;
};

namespace device_detail {

/// Kernels whose attributes tell of the code that holds them.
struct DeviceProbes {
    const void* code = nullptr;
    const void* wgmma = nullptr;
};

Device describe_device(int index, const DeviceProbes& probes);

}  // namespace device_detail

/// Describes a device, which must be current. Throws `Error` when it is older than compute capability 8.0, or the
/// program holds no code for it.
inline Device describe_device(int index) {
    // Those of this file's code: a library of the program may have been compiled for other architectures.
    return device_detail::describe_device(
        index, {reinterpret_cast<const void*>(&probe_kernel<>), reinterpret_cast<const void*>(&wgmma_probe<>)});
}

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/runtime/impl/device.hpp>
#endif
