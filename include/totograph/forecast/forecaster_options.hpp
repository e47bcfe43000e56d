// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/graph/passes/rewrite.hpp>

namespace totograph {

/// What is decided when a forecaster of the CPU is compiled.
struct ForecasterOptions {
    DType weights = DType::f32;  ///< How GEMMs store their weights: f32, or bf16 (half the memory; f32 arithmetic).
    /// Which rewrites of the graph are done; all by default.
    Passes passes{};

    friend constexpr bool operator==(const ForecasterOptions&, const ForecasterOptions&) = default;
};

}  // namespace totograph
