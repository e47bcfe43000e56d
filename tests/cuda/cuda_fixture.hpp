// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "toto/case_list.hpp"
#include "toto/fixture_data.hpp"

// The fixtures of the reference, on the CUDA executor.

namespace fixture {

/// How far a precision may be from the reference, relative to each tensor's largest magnitude. f32 rounds as the
/// reference does, in another order. tf32 keeps 11 bits of a product's inputs, bf16 keeps 8: a few roundings deep.
constexpr double cuda_bound(tg::cuda::Precision precision) {
    return precision == tg::cuda::Precision::f32 ? 1e-5 : precision == tg::cuda::Precision::tf32 ? 2e-3 : 2e-2;
}

template <tg::cuda::Precision precision, class CaseType>
void check_cuda_intermediates(const CaseType& test) {
    constexpr tg::cuda::ForecasterOptions options{.precision = precision,
                                                  .rewrites = {.last_patch_only = false, .keep_intermediates = true}};
    using Forecaster = tg::cuda::Forecaster<typename CaseType::Model, CaseType::bucket, options>;
    constexpr tg::toto::Toto1Config config = CaseType::Model::config;
    const double bound = cuda_bound(precision);
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    Forecaster forecaster(tg::toto::load<typename CaseType::Model>(folder(test.name)));
    forecaster.fill(inputs.series, CaseType::bucket, 0);
    forecaster.template run<0>();
    const auto state = [&](const std::string& name, int layer = -1) {
        return forecaster.template read_state<float>(name, layer);
    };

    const auto scaled = tensors["scaled"];
    check_close("scaled", state("tap.scaled"), scaled, 1e-5);
    check_close("loc", repeat(state("tap.context_loc"), scaled.size()), tensors["loc"], 1e-5);
    check_close("scale", repeat(state("tap.context_scale"), scaled.size()), tensors["scale"], 1e-5);
    check_close("patch_embeddings", state("tap.patch_embeddings"), tensors["patch_embeddings"], bound);
    for (int layer = 0; layer < config.num_layers; ++layer) {
        const std::string name = std::string("layer_0") + std::to_string(layer);
        check_close(name, state("tap.layer", layer), tensors[name], bound);
    }
    const bool is_mixture = config.head == tg::toto::Head::mixture_of_student_t;
    check_close("head_df", state("tap.head_df"), tensors["head_df"], bound);
    check_close("head_loc", state("tap.head_loc"), tensors["head_loc"], bound);
    check_close("head_scale", state("tap.head_scale"), tensors["head_scale"], bound);
    if (is_mixture) {
        check_close("head_probs", state("tap.head_probs"), tensors["head_probs"], bound);
    }

    // Teacher-forced: step i has seen the context and i given patches.
    const auto future = tensors["future"];
    const auto patch = static_cast<std::size_t>(config.patch_size);
    const auto steps = static_cast<std::size_t>(Forecaster::sizes.steps);
    const auto rows = static_cast<std::size_t>(CaseType::bucket.batch * CaseType::bucket.variates);
    for (std::size_t step = 0; step < steps; ++step) {
        if (step > 0) {
            auto forecast = state("forecast");
            for (std::size_t row = 0; row < rows; ++row) {
                const std::size_t from = (row * steps + step - 1) * patch;
                std::copy_n(future.begin() + static_cast<std::ptrdiff_t>(from), patch,
                            forecast.begin() + static_cast<std::ptrdiff_t>(from));
            }
            forecaster.write_state("forecast", forecast);
            forecaster.template run<1>();
        }
        const auto expect = [&](const char* tap, const char* name) {
            const auto all = tensors[name];
            const std::size_t size = all.size() / steps;
            const std::vector<float> expected(all.begin() + static_cast<std::ptrdiff_t>(step * size),
                                              all.begin() + static_cast<std::ptrdiff_t>((step + 1) * size));
            auto found = state(tap);
            check_close(std::string(name) + " at step " + std::to_string(step),
                        found.size() == size ? found : repeat(found, size), expected, bound);
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

template <tg::cuda::ForecasterOptions options, class CaseType>
void check_cuda_mean(const CaseType& test, double bound) {
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    const auto weights = tg::toto::load<typename CaseType::Model>(folder(test.name));
    tg::cuda::Forecaster<typename CaseType::Model, CaseType::bucket, options> forecaster(weights);
    const char* name = options.rewrites.kv_cache ? "mean_kv" : "mean_nokv";
    const double allowed = mean_bound(tensors, bound, test.of_reference_error);
    const auto first = forecaster.forecast(inputs.series).mean();
    check_close(name, first, tensors[name], allowed);
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
        check_cuda_mean<tg::cuda::ForecasterOptions{.precision = f32}>(test, test.bound);
    }
    SUBCASE("mean without a cache") {
        check_cuda_mean<tg::cuda::ForecasterOptions{.precision = f32, .rewrites = {.kv_cache = false}}>(test,
                                                                                                        test.bound);
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
        check_cuda_mean<tg::cuda::ForecasterOptions{.precision = bf16}>(test, cuda_bound(bf16));
    }
    SUBCASE("tf32 mean") {
        check_cuda_mean<tg::cuda::ForecasterOptions{.precision = tf32}>(test, cuda_bound(tf32));
    }
}

}  // namespace fixture
