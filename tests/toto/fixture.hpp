// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/toto/eager_forecaster.hpp>
#include <totograph/totograph.hpp>

#include "toto/fixture_data.hpp"

namespace fixture {

/// The content of a state.
template <class Forecaster>
std::vector<float> state(Forecaster& forecaster, const char* name, int layer = -1) {
    const auto* entry = Forecaster::Executor::Layout::find(name, layer);
    REQUIRE_MESSAGE(entry != nullptr, "no state " << name);
    const auto* values = static_cast<const float*>(forecaster.executor().state(name, layer));
    return {values, values + entry->slot.shape.size()};
}

/// Every intermediate tensor of the prefill, and the teacher-forced decode.
template <tg::ExecutorKind executor, class CaseType>
void check_intermediates(const CaseType& test) {
    constexpr tg::ForecasterOptions options{.executor = executor,
                                            .rewrites = {.last_patch_only = false, .keep_intermediates = true}};
    using Forecaster = tg::Forecaster<typename CaseType::Model, CaseType::bucket, options>;
    constexpr tg::toto::Toto1Config config = CaseType::Model::config;
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    Forecaster forecaster(tg::toto::load<typename CaseType::Model>(folder(test.name)));
    forecaster.fill(inputs.series, CaseType::bucket, 0);
    forecaster.executor().template run<0>();

    const auto scaled = tensors["scaled"];
    check_close("scaled", state(forecaster, "tap.scaled"), scaled, test.bound);
    check_close("loc", repeat(state(forecaster, "tap.context_loc"), scaled.size()), tensors["loc"], test.bound);
    check_close("scale", repeat(state(forecaster, "tap.context_scale"), scaled.size()), tensors["scale"], test.bound);
    check_close("patch_embeddings", state(forecaster, "tap.patch_embeddings"), tensors["patch_embeddings"], test.bound);
    for (int layer = 0; layer < config.num_layers; ++layer) {
        const std::string name = std::string("layer_0") + std::to_string(layer);
        check_close(name, state(forecaster, "tap.layer", layer), tensors[name], test.bound);
    }
    const bool is_mixture = config.head == tg::toto::Head::mixture_of_student_t;
    check_close("head_df", state(forecaster, "tap.head_df"), tensors["head_df"], test.bound);
    check_close("head_loc", state(forecaster, "tap.head_loc"), tensors["head_loc"], test.bound);
    check_close("head_scale", state(forecaster, "tap.head_scale"), tensors["head_scale"], test.bound);
    if (is_mixture) {
        check_close("head_probs", state(forecaster, "tap.head_probs"), tensors["head_probs"], test.bound);
    }

    // Teacher-forced: step i has seen the context and i given patches.
    const auto future = tensors["future"];
    const auto patch = static_cast<std::size_t>(config.patch_size);
    const auto steps = static_cast<std::size_t>(Forecaster::sizes.steps);
    const auto rows = static_cast<std::size_t>(CaseType::bucket.batch * CaseType::bucket.variates);
    for (std::size_t step = 0; step < steps; ++step) {
        if (step > 0) {
            auto* forecast = static_cast<float*>(forecaster.executor().state("forecast"));
            for (std::size_t row = 0; row < rows; ++row) {
                std::copy_n(future.begin() + static_cast<std::ptrdiff_t>((row * steps + step - 1) * patch), patch,
                            forecast + (row * steps + step - 1) * patch);
            }
            forecaster.executor().template run<1>();
        }
        const auto expect = [&](const char* tap, const char* name) {
            const auto all = tensors[name];
            const std::size_t size = all.size() / steps;
            const std::vector<float> expected(all.begin() + static_cast<std::ptrdiff_t>(step * size),
                                              all.begin() + static_cast<std::ptrdiff_t>((step + 1) * size));
            auto found = state(forecaster, tap);
            check_close(std::string(name) + " at step " + std::to_string(step),
                        found.size() == size ? found : repeat(found, size), expected, test.bound);
        };
        expect("tap.df", "trace_df");
        expect("tap.loc", "trace_loc");
        expect("tap.scale", "trace_scale");
        if (is_mixture) {
            expect("tap.probs", "trace_probs");
        }
        expect("tap.affine_loc", "trace_affine_loc");
        expect("tap.affine_scale", "trace_affine_scale");
        expect("tap.mean", "trace_mean");
        expect("tap.variance", "trace_variance");
    }
}

/// The mean forecast against the reference in the same mode.
template <tg::ForecasterOptions options, class CaseType>
void check_mean(const CaseType& test) {
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    const auto weights = tg::toto::load<typename CaseType::Model>(folder(test.name));
    tg::Forecaster<typename CaseType::Model, CaseType::bucket, options> forecaster(weights);
    const tg::Forecast forecast = forecaster.forecast(inputs.series);
    const char* name = options.rewrites.kv_cache ? "mean_kv" : "mean_nokv";
    check_close(name, forecast.mean(), tensors[name], mean_bound(tensors, test.bound, test.of_reference_error));
}

/// The same by the nodes as they are recorded when the test runs.
template <tg::toto::Rewrites rewrites, class CaseType>
void check_recorded_mean(const CaseType& test) {
    using Model = typename CaseType::Model;
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    tg::toto::EagerForecaster forecaster(tg::toto::load<Model>(folder(test.name)).weights,
                                         tg::toto::record_forecast<Model, CaseType::bucket, rewrites>());
    const tg::Forecast forecast = forecaster.forecast(inputs.series);
    const char* name = rewrites.kv_cache ? "mean_kv" : "mean_nokv";
    check_close(name, forecast.mean(), tensors[name], mean_bound(tensors, test.bound, test.of_reference_error));
}

/// Each tensor by an eager executor that was compiled, and the mean by one that was not: they run the same nodes.
template <class CaseType>
void check_eager(const CaseType& test) {
    SUBCASE("intermediates") {
        check_intermediates<tg::ExecutorKind::eager>(test);
    }
    SUBCASE("mean") {
        check_recorded_mean<tg::toto::Rewrites{}>(test);
    }
    SUBCASE("mean without a cache") {
        check_recorded_mean<tg::toto::Rewrites{.kv_cache = false}>(test);
    }
}

/// With a cache, as forecasts run; what is fused without one, check_fused_recomputation compares.
template <class CaseType>
void check_fused(const CaseType& test) {
    SUBCASE("intermediates") {
        check_intermediates<tg::ExecutorKind::fused>(test);
    }
    SUBCASE("mean") {
        check_mean<tg::ForecasterOptions{}>(test);
    }
}

template <class CaseType>
void check_fused_recomputation(const CaseType& test) {
    check_mean<tg::ForecasterOptions{.rewrites = {.kv_cache = false}}>(test);
}

}  // namespace fixture
