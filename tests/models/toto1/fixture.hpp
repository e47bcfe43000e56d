// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/totograph.hpp>

#include "models/toto1/fixture_data.hpp"
#include "models/toto1/intermediates.hpp"
#include "models/toto1/tapped.hpp"

// Forecasters that the compiler made, against the reference.

namespace fixture {

/// Every intermediate tensor of the prefill, and the teacher-forced decode.
template <class CaseType>
void check_intermediates(const CaseType& test) {
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    tg::Forecaster<Tapped<typename CaseType::Model>, CaseType::bucket> forecaster(
        tg::load<typename CaseType::Model>(folder(test.name)));
    forecaster.fill(inputs.series, CaseType::bucket, 0);
    check_programs(
        tensors, CaseType::Model::config,
        [&](int program) {
            if (program == 0) {
                forecaster.template run<0>();
            } else {
                forecaster.template run<1>();
            }
        },
        [&](const std::string& name, int layer) { return forecaster.template read_state<float>(name, layer); },
        [&](const std::vector<float>& forecast) { forecaster.write_state("forecast", forecast); });
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

/// The mean forecast by a bucket that others of the same model share.
template <tg::Bucket bucket, class CaseType>
void check_mean_in(const CaseType& test) {
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    tg::Forecaster<typename CaseType::Model, bucket> forecaster(tg::load<typename CaseType::Model>(folder(test.name)));
    const auto forecast = forecaster.forecast(inputs.series, {.horizon = CaseType::bucket.horizon});
    check_mean_values(tensors, CaseType::bucket, true, Bounds{}, forecast.mean());
}

/// With a cache, as forecasts run; what is fused without one, check_fused_recomputation compares.
template <class CaseType>
void check_fused(const CaseType& test) {
    SUBCASE("intermediates") {
        check_intermediates(test);
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
