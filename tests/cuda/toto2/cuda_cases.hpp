// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "cuda/toto2/rounded_weights.hpp"
#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"
#include "models/toto2/intermediates.hpp"

// The cases of Toto 2.0's reference, on the CUDA executor.

namespace toto2_fixture {

using tg::cuda::Precision;

/// How far quantiles may be from the reference's f64, of a variate's largest value. f32 rounds as the reference's f32
/// does, in another order. tf32 keeps 11 bits of a product's inputs, bf16 keeps 8: a few roundings deep. A case whose
/// weights alone, rounded so, lead further (quantiles are the hyperbolic sine of what the model tells) may be six times
/// as far as they lead: tensor cores cut off both inputs of a product where this rounds one, which is four times, and
/// half as much again, for each is one draw of a random error.
inline double bound_of(Precision precision, const Tensors& tensors, const std::string& name, Index variates) {
    if (precision == Precision::f32) {
        return 1e-5;
    }
    const bool in_bf16 = precision == Precision::bf16;
    double bound = in_bf16 ? 2e-2 : 2e-3;
    for (const QuantileError& row :
         quantile_errors(tensors, quantiles_of_rounded_weights(name, in_bf16 ? 8 : 11), variates)) {
        bound = std::max(bound, 6 * row.error / row.largest);
    }
    return bound;
}

/// The quantiles of a case in a precision; the second replay must repeat the first.
template <Precision precision, class Case>
void check_cuda(const std::string& name) {
    const Tensors tensors(name);
    const Inputs inputs(tensors, Case::bucket.horizon, Case::config.patch_size);
    tg::cuda::Forecaster<Case, Case::bucket, tg::cuda::ForecasterOptions{.precision = precision}> forecaster(
        tg::load<Case>(folder(name)));
    const auto once = [&] {
        const tg::Forecast forecast = forecaster.forecast(inputs.series);
        return std::vector<float>(forecast.values().begin(), forecast.values().end());
    };
    const auto first = once();
    check_quantiles(tensors, first, Case::bucket.variates, bound_of(precision, tensors, name, Case::bucket.variates));
    CHECK_MESSAGE(once() == first, "a second replay differs from the first");
}

/// Every tensor on the way there, in f32: all rows of all layers, on the reference's scale.
template <class Case>
void check_cuda_intermediates(const std::string& name) {
    constexpr tg::toto2::Rewrites tapped{.plain_residuals = false, .read_rows_only = false, .keep_intermediates = true};
    using Model = tg::toto2::WithRewrites<Case, tapped>;
    const Tensors tensors(name);
    const Inputs inputs(tensors, Case::bucket.horizon, Case::config.patch_size);
    tg::cuda::Forecaster<Model, Case::bucket, tg::cuda::ForecasterOptions{.precision = Precision::f32}> forecaster(
        tg::load<Case>(folder(name)));
    forecaster.fill(inputs.series, Case::bucket, 0);
    forecaster.template run<0>();
    const auto state_of = [&](const std::string& state, int layer) {
        return forecaster.template read_state<float>(state, layer);
    };
    // Of a tensor's largest value: the reference's own f32 is up to 3e-6 from its f64.
    constexpr double bound = 1e-5;
    check_first_pass(tensors, Case::config, inputs.series, Case::inference.scaler_fallback_min_obs > 0, bound,
                     state_of);
    if constexpr (tg::toto2::Parts<Case, Case::bucket>::has_blocks) {
        forecaster.template run<1>();
        check_second_pass(tensors, bound, state_of);
    }
}

}  // namespace toto2_fixture
