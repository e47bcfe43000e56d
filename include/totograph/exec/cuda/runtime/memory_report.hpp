// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace totograph::cuda {

/// The memory that a forecaster takes, in bytes. All of it is known when the forecaster is compiled, but for what the
/// CUDA runtime and cuBLASLt keep for themselves.
struct MemoryReport {
    std::size_t weights = 0;  ///< On the device; forecasters of the same weights share those that both use.
    std::size_t caches = 0;   ///< Keys and values.
    std::size_t states = 0;   ///< All other states: inputs, and what is carried from step to step.
    std::size_t arena = 0;    ///< Intermediates.
    std::size_t workspace = 0;
    std::size_t result = 0;
    std::size_t pinned =
        0;  ///< Of the host: staging memory, its copies of the result, two words that kernels report in.

    /// Bytes on the device that this forecaster has for itself.
    [[nodiscard]] constexpr std::size_t own() const { return caches + states + arena + workspace + result; }
    /// Bytes on the device with the weights, when no other forecaster shares them.
    [[nodiscard]] constexpr std::size_t device() const { return weights + own(); }

    friend constexpr bool operator==(const MemoryReport&, const MemoryReport&) = default;
};

/// The report in a line.
std::string to_string(const MemoryReport& report);

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/runtime/impl/memory_report.hpp>
#endif
