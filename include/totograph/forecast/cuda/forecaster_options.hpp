// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/passes/rewrite.hpp>

namespace totograph::cuda {

/// What is decided when a forecaster is compiled.
struct ForecasterOptions {
    Precision precision = Precision::bf16;
    /// Which rewrites of the graph are done; all by default.
    Passes passes{};

    friend constexpr bool operator==(const ForecasterOptions&, const ForecasterOptions&) = default;
};

/// What is decided when a forecaster is made.
struct ForecasterResources {
    int device = 0;
    Execution execution{};  ///< How its launches reach the device.
};

}  // namespace totograph::cuda
