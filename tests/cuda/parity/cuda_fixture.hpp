// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "models/toto1/case_list.hpp"
#include "models/toto1/fixture_data.hpp"
#include "models/toto1/intermediates.hpp"

// The fixtures of the reference, on the CUDA executor.

namespace fixture {

/// How far a precision may be from the reference. f32 rounds as the reference does, in another order and with other
/// approximations of functions. tf32 keeps 11 bits of a product's inputs, bf16 keeps 8: a few roundings deep. The
/// reference with all inputs of its GEMMs and attentions rounded so is off by up to 9e-4 and 9e-3 of a tensor and
/// 1.3e-3 and 9e-3 of a row; of a row of the head's locations, whose components can nearly cancel, by 8e-3 and 5e-2.
constexpr Bounds cuda_bounds(tg::cuda::Precision precision) {
    switch (precision) {
        case tg::cuda::Precision::f32: return {.tensor = 1e-5, .row = 2e-5, .row_of_head_locations = 3e-5};
        case tg::cuda::Precision::tf32: return {.tensor = 2e-3, .row = 4e-3, .row_of_head_locations = 2e-2};
        default: return {.tensor = 2e-2, .row = 3e-2, .row_of_head_locations = 0.15};
    }
}

template <tg::cuda::Precision precision, class CaseType>
void check_cuda_intermediates(const CaseType& test) {
    using Tapped = tg::toto1::WithRewrites<typename CaseType::Model,
                                           tg::toto1::Rewrites{.last_patch_only = false, .keep_intermediates = true}>;
    using Forecaster =
        tg::cuda::Forecaster<Tapped, CaseType::bucket, tg::cuda::ForecasterOptions{.precision = precision}>;
    constexpr tg::toto1::Toto1Config config = CaseType::Model::config;
    constexpr Bounds bounds = cuda_bounds(precision);
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    Forecaster forecaster(tg::load<typename CaseType::Model>(folder(test.name)));
    forecaster.fill(inputs.series, CaseType::bucket, 0);
    forecaster.template run<0>();
    const auto state = [&](const std::string& name, int layer) {
        return forecaster.template read_state<float>(name, layer);
    };
    check_context(tensors, config, bounds, state);

    // Teacher-forced: step i has seen the context and i given patches.
    constexpr auto patch = static_cast<std::size_t>(config.patch_size);
    constexpr auto steps = static_cast<std::size_t>(Forecaster::sizes.steps);
    for (std::size_t step = 0; step < steps; ++step) {
        if (step > 0) {
            auto forecast = state("forecast", -1);
            give_patch(tensors, step, steps, patch, forecast);
            forecaster.write_state("forecast", forecast);
            forecaster.template run<1>();
        }
        check_step(tensors, config, step, steps, bounds, state);
    }
}

template <tg::cuda::Precision precision, tg::toto1::Rewrites rewrites = tg::toto1::Rewrites{}, class CaseType>
void check_cuda_mean(const CaseType& test) {
    using Model = tg::toto1::WithRewrites<typename CaseType::Model, rewrites>;
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    const auto weights = tg::load<typename CaseType::Model>(folder(test.name));
    tg::cuda::Forecaster<Model, CaseType::bucket, tg::cuda::ForecasterOptions{.precision = precision}> forecaster(
        weights);
    const auto first = forecaster.forecast(inputs.series).mean();
    check_mean_values(tensors, CaseType::bucket, rewrites.kv_cache, cuda_bounds(precision), first);
    CHECK_MESSAGE(forecaster.forecast(inputs.series).mean() == first, "a second replay differs from the first");
}

/// f32 throughout, with every intermediate tensor.
template <class CaseType>
void check_cuda(const CaseType& test) {
    using enum tg::cuda::Precision;
    SUBCASE("intermediates") {
        check_cuda_intermediates<f32>(test);
    }
    SUBCASE("mean") {
        check_cuda_mean<f32>(test);
    }
    SUBCASE("mean without a cache") {
        check_cuda_mean<f32, tg::toto1::Rewrites{.kv_cache = false}>(test);
    }
}

/// Reduced precisions.
template <class CaseType>
void check_cuda_reduced(const CaseType& test) {
    using enum tg::cuda::Precision;
    SUBCASE("bf16 intermediates") {
        check_cuda_intermediates<bf16>(test);
    }
    SUBCASE("bf16 mean") {
        check_cuda_mean<bf16>(test);
    }
    SUBCASE("tf32 mean") {
        check_cuda_mean<tf32>(test);
    }
}

}  // namespace fixture
