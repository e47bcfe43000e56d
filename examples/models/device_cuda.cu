// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <functional>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/diagnostics/verify/cuda_device.hpp>

#include "device.hpp"

namespace examples {

std::function<std::size_t()> device_memory_probe() {
    return [] {
        std::size_t free = 0;
        std::size_t total = 0;
        if (cudaMemGetInfo(&free, &total) != cudaSuccess) {
            cudaGetLastError();  // it is handled here: later calls must not see it
            return std::size_t{0};
        }
        return total - free;
    };
}

std::vector<totograph::serve::Check> check_devices(int device, std::size_t wanted) {
    return totograph::serve::check_cuda_device(device, wanted);
}

}  // namespace examples
