// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace totograph::cuda {

/// How GEMMs store their weights and multiply. Accumulators are f32 in each.
enum class Precision : std::uint8_t {
    f32,   ///< f32 weights and arithmetic.
    tf32,  ///< Products of tf32: weights rounded to it, in f32 or in 20 bits where rows are few; inputs in f32.
    bf16,  ///< bf16 weights and inputs.
};

constexpr const char* name(Precision precision) {
    return precision == Precision::f32 ? "f32" : precision == Precision::tf32 ? "tf32" : "bf16";
}

}  // namespace totograph::cuda
