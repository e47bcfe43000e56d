// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/totograph.hpp>

#include "models/toto1/fixture_data.hpp"
#include "models/toto1/intermediates.hpp"

namespace fixture {

/// A model that keeps every intermediate tensor, of every patch.
template <class Model>
using Tapped =
    tg::toto1::WithRewrites<Model, tg::toto1::Rewrites{.last_patch_only = false, .keep_intermediates = true}>;

/// Every intermediate tensor of the prefill, and the teacher-forced decode.
template <class CaseType, class Forecaster>
void check_intermediates(const CaseType& test, Forecaster& forecaster) {
    constexpr tg::toto1::Toto1Config config = CaseType::Model::config;
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    forecaster.fill(inputs.series, CaseType::bucket, 0);
    forecaster.template run<0>();

    const auto state_of = [&](const std::string& name, int layer) {
        return forecaster.template read_state<float>(name, layer);
    };
    check_context(tensors, config, Bounds{}, state_of);

    // Teacher-forced: step i has seen the context and i given patches.
    constexpr auto patch = static_cast<std::size_t>(config.patch_size);
    constexpr auto steps =
        static_cast<std::size_t>(tg::FamilyOf<typename CaseType::Model>::sizes(CaseType::bucket).steps);
    for (std::size_t step = 0; step < steps; ++step) {
        if (step > 0) {
            auto forecast = forecaster.template read_state<float>("forecast");
            give_patch(tensors, step, steps, patch, forecast);
            forecaster.write_state("forecast", forecast);
            forecaster.template run<1>();
        }
        check_step(tensors, config, step, steps, Bounds{}, state_of);
    }
}

/// The mean forecast against the reference in the same mode.
template <tg::toto1::Rewrites rewrites, class CaseType>
void check_mean(const CaseType& test) {
    using Model = tg::toto1::WithRewrites<typename CaseType::Model, rewrites>;
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    const auto weights = tg::load<typename CaseType::Model>(folder(test.name));
    tg::Forecaster<Model, CaseType::bucket> forecaster(weights);
    check_mean_values(tensors, CaseType::bucket, rewrites.kv_cache, Bounds{},
                      forecaster.forecast(inputs.series).mean());
}

/// The same by the nodes as they are recorded when the test runs.
template <tg::toto1::Rewrites rewrites, class CaseType>
void check_recorded_mean(const CaseType& test) {
    using Model = typename CaseType::Model;
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    tg::EagerForecaster forecaster(tg::load<Model>(folder(test.name)).weights,
                                   tg::record_forecast<tg::toto1::WithRewrites<Model, rewrites>, CaseType::bucket>());
    check_mean_values(tensors, CaseType::bucket, rewrites.kv_cache, Bounds{},
                      forecaster.forecast(inputs.series).mean());
}

/// Each tensor by the nodes as they are recorded, and the mean.
template <class CaseType>
void check_eager(const CaseType& test) {
    SUBCASE("intermediates") {
        using Model = typename CaseType::Model;
        tg::EagerForecaster forecaster(tg::load<Model>(folder(test.name)).weights,
                                       tg::record_forecast<Tapped<Model>, CaseType::bucket>());
        check_intermediates(test, forecaster);
    }
    SUBCASE("mean") {
        check_recorded_mean<tg::toto1::Rewrites{}>(test);
    }
    SUBCASE("mean without a cache") {
        check_recorded_mean<tg::toto1::Rewrites{.kv_cache = false}>(test);
    }
}

/// With a cache, as forecasts run; what is fused without one, check_fused_recomputation compares.
template <class CaseType>
void check_fused(const CaseType& test) {
    SUBCASE("intermediates") {
        using Model = typename CaseType::Model;
        tg::Forecaster<Tapped<Model>, CaseType::bucket> forecaster(tg::load<Model>(folder(test.name)));
        check_intermediates(test, forecaster);
    }
    SUBCASE("mean") {
        check_mean<tg::toto1::Rewrites{}>(test);
    }
}

template <class CaseType>
void check_fused_recomputation(const CaseType& test) {
    check_mean<tg::toto1::Rewrites{.kv_cache = false}>(test);
}

}  // namespace fixture
