// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/memory_report.hpp>

#include <cstddef>
#include <string>

#include <totograph/exec/cuda/inline.hpp>
#include <totograph/graph/explain/text.hpp>

namespace totograph::cuda {

TOTOGRAPH_CUDA_INLINE std::string to_string(const MemoryReport& report) {
    const auto part = [](std::size_t bytes) { return totograph::detail::bytes_text(bytes); };
    return part(report.own()) + " beside the weights: caches " + part(report.caches) + ", other states " +
           part(report.states) + ", intermediates " + part(report.arena) + ", workspace " + part(report.workspace) +
           ", result " + part(report.result) + "; weights " + part(report.weights) + "; pinned on the host " +
           part(report.pinned);
}

}  // namespace totograph::cuda
