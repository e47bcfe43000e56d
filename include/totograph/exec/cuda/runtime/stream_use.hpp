// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace totograph::cuda {

/// What a stream is used for.
enum class StreamUse : std::uint8_t {
    kernels,  ///< Anything.
    graphs,   ///< Graphs, and copies between host and device, alone.
};

}  // namespace totograph::cuda
