// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/package/packaged_model.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/backends/cpu_backend.hpp>

namespace totograph::package {

/// A model for buckets that `add_backend` runs, which may be compiled elsewhere. The name has to stay.
template <class Model, Bucket... buckets>
constexpr PackagedModel describe_model(const char* name, decltype(PackagedModel::add_backend) add_backend) {
    return {.name = name,
            .buckets = buckets_by_cost<Model, buckets...>,
            .plan = forecast_plan<Model, buckets_by_cost<Model, buckets...>[0]>(),
            .check_config = [](const io::ModelConfig& file) { FamilyOf<Model>::check_config(file); },
            .add_backend = add_backend};
}

/// Compiles a model for buckets, on the CPU. The name has to stay.
template <class Model, Bucket... buckets>
constexpr PackagedModel compile_model(const char* name) {
    return describe_model<Model, buckets...>(
        name, [](serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) {
            serve::add_cpu_backend<Model, buckets...>(registry, load<Model>(checkpoint));
        });
}

}  // namespace totograph::package
