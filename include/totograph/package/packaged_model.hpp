// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/serve/backends/backend_registry.hpp>

namespace totograph::package {

/// A model compiled for some buckets, behind plain functions: those of a package, or of a program.
struct PackagedModel {
    const char* name = nullptr;         ///< Zero at its end.
    std::span<const Bucket> buckets{};  ///< The cheapest first.
    ForecastPlan plan;                  ///< Of the first.
    /// Compares a checkpoint's configuration. Throws `Error(config_mismatch)` that lists what differs.
    void (*check_config)(const io::ModelConfig& file) = nullptr;
    /// Opens a checkpoint, and adds the backend that runs it. Throws `Error` as `totograph::load` does.
    void (*add_backend)(serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) = nullptr;
};

/// Those of this package; the file that the build writes defines it.
std::span<const PackagedModel* const> packaged_models();

}  // namespace totograph::package
