// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <functional>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/serve/verify/cuda_device.hpp>

#include "device.hpp"

namespace examples {

std::function<std::size_t()> device_memory_probe() {
    return [] {
        std::size_t free = 0;
        std::size_t total = 0;
        return cudaMemGetInfo(&free, &total) == cudaSuccess ? total - free : 0;
    };
}

std::vector<totograph::serve::Check> check_devices(int device) {
    return totograph::serve::check_cuda_device(device);
}

}  // namespace examples
