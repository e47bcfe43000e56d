// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <totograph/serve/verify/check.hpp>

// What programs ask about devices. With CUDA, TOTOGRAPH_EXAMPLES_CUDA is defined and a file that nvcc compiles has the
// answers; without it there are none.
namespace examples {

#ifdef TOTOGRAPH_EXAMPLES_CUDA

/// Tells the bytes that are in use on the device; empty without devices.
std::function<std::size_t()> device_memory_probe();
/// Whether this device and its driver are fit to serve; nothing without devices.
std::vector<totograph::serve::Check> check_devices(int device);

#else

inline std::function<std::size_t()> device_memory_probe() {
    return {};
}
inline std::vector<totograph::serve::Check> check_devices(int) {
    return {};
}

#endif

}  // namespace examples
