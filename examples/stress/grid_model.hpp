// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/grid/grid_request.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/serve/backends/backend_registry.hpp>

namespace examples {

/// A model of tokens or candles that was compiled for a grid of sizes.
struct GridModel {
    std::string_view name;
    totograph::Bucket one;  ///< All sizes but context and batch.
    std::span<const totograph::Index> contexts;
    std::span<const totograph::Index> batches;
    totograph::serve::GridWords (*words)();
    /// Adds the backend `cpu`, with a checkpoint's weights or untrained ones where it is empty.
    void (*add_backend)(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint);
    totograph::serve::GridRequest (*request)(const totograph::Bucket& sizes, std::uint64_t seed);
    /// Whether a checkpoint's configuration is of this model; null: it has no single checkpoint.
    bool (*is_of)(const totograph::io::ModelConfig& config);
};

}  // namespace examples
