// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace examples {

/// Tells how often this program has waited for a device; empty in builds without CUDA.
#ifdef TOTOGRAPH_EXAMPLES_CUDA
std::function<std::uint64_t()> host_waits_probe();
#else
inline std::function<std::uint64_t()> host_waits_probe() {
    return {};
}
#endif

}  // namespace examples
