// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <totograph/diagnostics/verify/check.hpp>

// What programs ask about devices. With CUDA, TOTOGRAPH_EXAMPLES_CUDA is defined and a file that nvcc compiles has the
// answers; without it there are none.
namespace examples {

#ifdef TOTOGRAPH_EXAMPLES_CUDA

/// Tells the bytes that are in use on the device, 0 when there is none; empty in builds without CUDA.
std::function<std::size_t()> device_memory_probe();
/// Whether this device and its driver are fit to serve buckets that take `wanted` bytes (0: not known); nothing in
/// builds without CUDA.
std::vector<totograph::serve::Check> check_devices(int device, std::size_t wanted);

#else

inline std::function<std::size_t()> device_memory_probe() {
    return {};
}
inline std::vector<totograph::serve::Check> check_devices(int, std::size_t) {
    return {};
}

#endif

}  // namespace examples
