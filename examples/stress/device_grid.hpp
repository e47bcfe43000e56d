// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cuda/forecaster.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/backends/cuda_backend.hpp>

#include "grids.hpp"

// Grids on a device, for files that nvcc compiles. ../CMakeLists.txt writes one for each size of each model, so that
// they compile side by side.
namespace examples::grid_devices {

using Compiled = totograph::serve::detail::CompiledDeviceBucket;

/// One size, its GEMMs in bf16.
template <class Grid, std::size_t which>
Compiled compile() {
    constexpr totograph::Bucket bucket = Grid::buckets[which];
    return totograph::serve::detail::compiled_device_bucket<typename Grid::Model, bucket,
                                                            totograph::cuda::ForecasterOptions{}>();
}

/// All sizes behind two names: captured whole, and captured layer by layer.
template <class Grid>
void add(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint,
         std::vector<Compiled> compiled) {
    using totograph::cuda::Capture;
    using totograph::serve::CudaBackend;
    const auto weights = Grid::weights(checkpoint).weights;
    registry.add(std::make_shared<const CudaBackend>("cuda", weights, compiled, Capture::whole));
    registry.add(std::make_shared<const CudaBackend>("cuda-regional", weights, std::move(compiled), Capture::regional));
}

}  // namespace examples::grid_devices
