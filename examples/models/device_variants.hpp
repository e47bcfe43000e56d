// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <totograph/serve/cuda_backend.hpp>
#include <totograph/toto/checkpoint.hpp>
#include <totograph/toto/config.hpp>
#include <totograph/toto/cuda_forecaster.hpp>

#include "ablation.hpp"

// One bucket of the full-size model, compiled for a device with each of the options that ../CMakeLists.txt lists: there
// a file is written for each, so that they compile side by side.
namespace examples::device_variants {

using Model = totograph::toto::open_base_1_0;
using Weights = totograph::toto::ModelWeights<Model>;
using Resources = totograph::cuda::ForecasterResources;
using Made = std::unique_ptr<totograph::serve::BucketForecaster>;

template <totograph::cuda::ForecasterOptions options>
Made make(const Weights& weights, const Resources& resources) {
    using Forecaster = totograph::cuda::Forecaster<Model, device_ablation_bucket, options>;
    return std::make_unique<totograph::serve::detail::DeviceForecaster<Forecaster>>(weights, resources);
}

Made as_it_is(const Weights& weights, const Resources& resources);
Made without_fusion(const Weights& weights, const Resources& resources);
Made without_deferred_scales(const Weights& weights, const Resources& resources);
Made without_folded_scales(const Weights& weights, const Resources& resources);
Made without_composed_linears(const Weights& weights, const Resources& resources);
Made without_cache(const Weights& weights, const Resources& resources);
Made without_shared_prefix(const Weights& weights, const Resources& resources);
Made in_tf32(const Weights& weights, const Resources& resources);

}  // namespace examples::device_variants
