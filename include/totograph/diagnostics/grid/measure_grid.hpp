// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/grid/device_calls.hpp>
#include <totograph/diagnostics/grid/grid_request.hpp>
#include <totograph/diagnostics/grid/grid_row.hpp>
#include <totograph/diagnostics/stress/probes.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

/// A backend in a mode: a column of a grid.
struct GridColumn {
    std::shared_ptr<const Backend> backend;
    Mode mode = Mode::eager;
    /// Whether its values have to be those of the first column: both compute in f32, or launch the same kernels.
    bool same_arithmetic = true;
};

/// How a grid is measured, and what counts while it is.
struct GridOptions {
    int rounds = 3;  ///< Calls of each run that are timed, and builds after the first.
    BackendResources resources{};
    GridWords words{};
    StressProbes probes{};
    /// How often this process has asked for memory; empty: nobody counts.
    std::function<std::uint64_t()> allocations{};
    /// What this process has asked of devices; empty: nobody counts.
    std::function<DeviceCalls()> device_calls{};
    /// Told after each row; empty: nobody is.
    std::function<void(std::size_t done, std::size_t all)> progress{};
};

/// Requests of these contexts and batches, batches within contexts; all else is `one`'s.
std::vector<Bucket> plan_grid(const Bucket& one, std::span<const Index> contexts, std::span<const Index> batches);

/// How a result, `[batch, variates, horizon, samples]`, is to another one of the same sizes.
GridAgreement compare_grid_values(std::span<const float> first, std::span<const float> values, const Bucket& sizes,
                                  const GridWords& words);

/// Measures requests of each size in each column, in turns: builds, calls, memory, graphs, allocations, and whether
/// results are those of the first column. A size is served by the cheapest bucket of a backend that holds it. Throws
/// `std::invalid_argument` without a column, a size or a round, and
/// `Error`: `no_bucket` for a size that a backend does not hold, and what building and forecasting meet.
std::vector<GridRow> measure_grid(std::span<const GridColumn> columns, std::span<const Bucket> sizes,
                                  const MakeGridRequest& make, const GridOptions& options);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/grid/impl/measure_grid.hpp>
#endif
