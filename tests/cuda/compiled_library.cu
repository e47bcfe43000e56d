// SPDX-License-Identifier: Apache-2.0
//
// A program that links the libraries totograph::compiled and totograph::cuda_compiled, and must end with 0 everywhere:
// what it launches is known without a device, and it forecasts where there is one.
#include <cstdio>
#include <string>
#include <vector>

#include <totograph/cuda.hpp>
#include <totograph/diagnostics/verify/cuda_device.hpp>

#include "no_device_reason.hpp"

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) || !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION)
#error "totograph: this program is for the libraries."
#endif

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
template <tg::cuda::Precision precision>
using Forecaster =
    tg::cuda::Forecaster<SmallModel, tg::Bucket{.variates = 2, .context = 64, .horizon = 16, .samples = 8},
                         tg::cuda::ForecasterOptions{.precision = precision}>;

bool is_explained() {
    using Explained = Forecaster<tg::cuda::Precision::bf16>;
    const std::string table = Explained::explain();
    const std::string drawing = Explained::explain_dot<0>();
    return table.find("device memory") != std::string::npos && table.find("launches for") != std::string::npos &&
           drawing.find("digraph") != std::string::npos;
}

template <tg::cuda::Precision precision>
bool forecasts_or_explains() {
    const std::vector<float> values(128, 1.0F);
    tg::Series series;
    series.variates = 2;
    series.steps = 64;
    series.values = values;
    try {
        Forecaster<precision> forecaster(tg::untrained<SmallModel>());
        return forecaster.forecast(series).not_finite() == 0;
    } catch (const tg::Error& error) {
        std::printf("%s\n", error.what());
        return is_no_device_reason(error, {8});
    }
}

}  // namespace

int main() {
    const bool has_checks = !tg::serve::check_cuda_device(0).empty();
    const bool met_nothing = tg::cuda::tuning_cache_report().hits == 0;
    const bool bf16 = forecasts_or_explains<tg::cuda::Precision::bf16>();
    const bool tf32 = forecasts_or_explains<tg::cuda::Precision::tf32>();
    const bool f32 = forecasts_or_explains<tg::cuda::Precision::f32>();
    return has_checks && met_nothing && is_explained() && bf16 && tf32 && f32 ? 0 : 1;
}
