// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>

namespace totograph::serve {

/// One program of a forecast, counted when it was compiled.
struct ProgramSummary {
    std::string name;          ///< `prefill`, `decode`.
    Index runs = 1;            ///< How often a forecast of the bucket's horizon runs it.
    Index recorded_nodes = 0;  ///< Nodes that the recorder saw.
    Index nodes = 0;           ///< Nodes after rewriting.
    Index kernels = 0;         ///< Distinct pieces of code.
    Index steps = 0;           ///< Calls of them in one run: fused groups.
    Index launches = 0;        ///< What the executor starts in one run; on a device, several steps may share one.
    Index flops = 0;           ///< Operations of one run.
    Index bytes = 0;           ///< Bytes that one run has to read and write, weights included.
    Index weight_bytes = 0;    ///< Of these, weights.
};

/// What will run for requests of a bucket, and what it takes. Everything here is known without running it.
struct Explanation {
    std::string backend;
    std::string mode;
    Bucket bucket;
    std::vector<ProgramSummary> programs;
    Index graph_launches = 0;  ///< Graphs that a forecast of the bucket's horizon replays; 0 when nothing is captured.
    std::size_t shared_weight_bytes = 0;  ///< Held once for all forecasters of these weights.
    std::size_t state_bytes = 0;          ///< Inputs, result, caches.
    std::size_t cache_bytes = 0;          ///< Of these, cached keys and values.
    std::size_t arena_bytes = 0;          ///< Intermediates.
    std::size_t workspace_bytes = 0;      ///< Scratch memory of kernels and libraries.
    std::size_t own_weight_bytes = 0;     ///< Weights that are not shared: mode `eager` has a copy.

    /// Launches of one forecast of the bucket's horizon.
    [[nodiscard]] Index launches() const { return total(&ProgramSummary::launches); }
    [[nodiscard]] Index flops() const { return total(&ProgramSummary::flops); }
    [[nodiscard]] Index bytes() const { return total(&ProgramSummary::bytes); }

    /// What a forecaster holds beside the shared weights.
    [[nodiscard]] std::size_t memory_bytes() const {
        return state_bytes + arena_bytes + workspace_bytes + own_weight_bytes;
    }

private:
    [[nodiscard]] Index total(Index ProgramSummary::*each) const;
};

/// What a device reaches at best, measured in a moment.
struct DeviceSpeed {
    double bytes_per_second = 0;  ///< Reading and writing memory.
    double flops_per_second = 0;  ///< A large GEMM in the precision of the forecast.
};

/// The least time that a forecast can take on a device of this speed, in seconds: each run of a program has to move its
/// bytes and to compute its operations, at best both at once.
double floor_seconds(const Explanation& explanation, const DeviceSpeed& speed);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/explain/impl/explanation.hpp>
#endif
