// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <totograph/exec/cuda/gemm/cublaslt/gemm.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/forecast/cuda/forecaster.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/models/toto1/family.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/backends/cuda_backend.hpp>

namespace examples {

/// Adds the device's backends of a model, with weights from a checkpoint: `cuda`, and `cuda-regional`, which is the
/// same code captured layer by layer.
template <class Model, totograph::cuda::ForecasterOptions options, totograph::Bucket... buckets>
void add_cuda_backends(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) {
    const auto weights = totograph::load<Model>(checkpoint);
    totograph::serve::add_cuda_backend<Model, options, buckets...>(registry, weights);
    totograph::serve::add_cuda_backend<Model, options, buckets...>(registry, weights, "cuda-regional",
                                                                   totograph::cuda::Capture::regional);
}

/// Adds the backend `cuda-f32`, whose GEMMs round nothing.
template <class Model, totograph::Bucket... buckets>
void add_exact_cuda_backend(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) {
    constexpr totograph::cuda::ForecasterOptions options{.precision = totograph::cuda::Precision::f32};
    totograph::serve::add_cuda_backend<Model, options, buckets...>(registry, totograph::load<Model>(checkpoint),
                                                                   "cuda-f32");
}

}  // namespace examples
