// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace totograph {

/// How a prepared weight lies on a device.
enum class WeightLayout : std::uint8_t {
    rows,        ///< Of a GEMM: row-major `[n, k]`, as its storage; a pair one after the other. Else as the node is.
    tf32_rows,   ///< Of a GEMM: rows of f32, rounded to tf32.
    tf32_tiles,  ///< Of a GEMM: `Tf32Tile`s, those of all k of eight columns behind each other.
};

}  // namespace totograph
