// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/runtime/stream.hpp>

namespace totograph::cuda {

/// Graphs that are replayed one after another.
using Graphs = std::vector<ReplayableGraph>;

inline void replay(const Graphs& graphs, cudaStream_t stream) {
    for (const ReplayableGraph& graph : graphs) {
        graph.launch(stream);
    }
}

/// Copies and kernels in them.
[[nodiscard]] inline std::size_t node_count_of(const Graphs& graphs) noexcept {
    std::size_t count = 0;
    for (const ReplayableGraph& graph : graphs) {
        count += graph.node_count();
    }
    return count;
}

/// Adds a graph for each region of a program; `before` is recorded at the head of the first.
/// @param keeps_first  of the first graph (`ReplayableGraph::run_first`)
template <class Executor, std::size_t which, class Before>
void capture_regions(Graphs& graphs, const Stream& stream, const Executor& executor, const Before& before,
                     bool keeps_first = false) {
    const std::vector<std::size_t> begins = Executor::template regions<which>();
    for (std::size_t region = 0; region < begins.size(); ++region) {
        const bool is_last = region + 1 == begins.size();
        const std::size_t end = is_last ? Executor::template launches<which>() : begins[region + 1];
        const auto record = [&](cudaStream_t to) {
            if (region == 0) {
                before(to);
            }
            executor.template launch_some<which>(to, begins[region], end);
        };
        graphs.emplace_back(stream, record, true, keeps_first && region == 0);
    }
}

}  // namespace totograph::cuda
