// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <totograph/diagnostics/grid/device_calls.hpp>

namespace examples {

/// Tells what this program has asked of a device; empty in builds without CUDA.
#ifdef TOTOGRAPH_EXAMPLES_CUDA
std::function<totograph::serve::DeviceCalls()> device_calls_probe();
#else
inline std::function<totograph::serve::DeviceCalls()> device_calls_probe() {
    return {};
}
#endif

}  // namespace examples
