// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/dtype.hpp>
#include <totograph/graph/passes/rewrite.hpp>

namespace totograph {

/// Who runs the programs on the CPU.
enum class ExecutorKind : std::uint8_t {
    fused,  ///< The planned program: fused kernels, packed weights, threads.
    eager,  ///< The recorded nodes one by one: slow, readable, the reference for the other.
};

/// What is decided when a forecaster is compiled.
struct ForecasterOptions {
    /// Who runs the programs.
    ExecutorKind executor = ExecutorKind::fused;
    DType weights = DType::f32;  ///< How GEMMs store their weights: f32, or bf16 (half the memory; f32 arithmetic).
    /// Which rewrites of the graph are done; all by default.
    Passes passes{};

    friend constexpr bool operator==(const ForecasterOptions&, const ForecasterOptions&) = default;
};

}  // namespace totograph
