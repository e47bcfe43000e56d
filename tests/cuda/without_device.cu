// SPDX-License-Identifier: Apache-2.0
//
// A program of the CUDA executor that must compile everywhere and end with 0 everywhere: it forecasts where there is a
// device that it was compiled for, and elsewhere gets an `Error` that says what is missing.
#include <cstdio>
#include <vector>

#include <totograph/cuda.hpp>
#include <totograph/diagnostics/verify/cuda_device.hpp>

#include "no_device_reason.hpp"

namespace tg = totograph;

namespace {

struct SmallModel {
    static constexpr tg::toto1::Toto1Config config{.patch_size = 8,
                                                   .embed_dim = 32,
                                                   .num_layers = 2,
                                                   .num_heads = 4,
                                                   .mlp_hidden_dim = 64,
                                                   .spacewise_every_n_layers = 2,
                                                   .k_components = 3};
};

/// A program without intermediates and weights: nvcc warns of a comparison of no number of these with an index.
struct StatesAlone {
    static constexpr void record(tg::Recorder& r) { r.store(r.state("twice", {4, 8}), r.state("x", {4, 8}) * 2.0); }
};
static_assert(tg::cuda::Lowering<tg::Program<StatesAlone>, true>::count == 1);
static_assert(tg::cuda::weight_uses<tg::Program<StatesAlone>, tg::cuda::Precision::bf16>.empty());

template <tg::cuda::Precision precision>
bool forecasts_or_explains() {
    constexpr tg::Bucket bucket{.variates = 2, .context = 64, .horizon = 16, .samples = 8};
    std::vector<float> values(128);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i % 16);
    }
    tg::Series series;
    series.variates = 2;
    series.steps = 64;
    series.values = values;
    try {
        const auto weights = tg::untrained<SmallModel>();
        tg::cuda::Forecaster<SmallModel, bucket, tg::cuda::ForecasterOptions{.precision = precision}> forecaster(
            weights);
        const tg::Forecast forecast = forecaster.forecast(series);
        std::printf("%s: %zu values on the device\n", tg::cuda::name(precision), forecast.samples().size());
        return forecast.samples().size() == 2 * 16 * 8;
    } catch (const tg::Error& error) {
        std::printf("%s: %s\n", tg::cuda::name(precision), error.what());
        return is_no_device_reason(error, {9});
    }
}

/// What is wrong is a line with a remedy, and nothing is thrown.
static bool is_fit_or_told() {
    const std::vector<tg::serve::Check> checks = tg::serve::check_cuda_device(0);
    bool is_told = !checks.empty();
    for (const tg::serve::Check& check : checks) {
        std::printf("%s: %s\n", check.what.c_str(), check.found.c_str());
        is_told = is_told && (check.result == tg::serve::CheckResult::ok || !check.remedy.empty());
    }
    return is_told;
}

}  // namespace

int main() {
    const bool told = is_fit_or_told();
    const bool bf16 = forecasts_or_explains<tg::cuda::Precision::bf16>();
    const bool tf32 = forecasts_or_explains<tg::cuda::Precision::tf32>();
    const bool f32 = forecasts_or_explains<tg::cuda::Precision::f32>();
    return told && bf16 && tf32 && f32 ? 0 : 1;
}
