// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <totograph/forecast/cuda/forecaster.hpp>
#include <totograph/forecast/model_weights.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/family.hpp>
#include <totograph/serve/backends/cuda_backend.hpp>

#include "ablation.hpp"

// One bucket of the full-size model, compiled for a device with each of the options that ../CMakeLists.txt lists: there
// a file is written for each, so that they compile side by side.
namespace examples::device_variants {

using Model = totograph::toto1::open_base_1_0;
using Weights = totograph::ModelWeights<Model>;
using Resources = totograph::cuda::ForecasterResources;
using Made = std::unique_ptr<totograph::serve::BucketForecaster>;

template <totograph::cuda::ForecasterOptions options, totograph::toto1::Rewrites rewrites>
Made make(const Weights& weights, const Resources& resources) {
    using Forecaster =
        totograph::cuda::Forecaster<totograph::toto1::WithRewrites<Model, rewrites>, device_ablation_bucket, options>;
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
