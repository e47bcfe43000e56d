// SPDX-License-Identifier: Apache-2.0
#include <totograph/models/toto1/demo_1_0.hpp>

#include "cuda/parity/cuda_fixture.hpp"

// The bundled trained checkpoint against what the reference made of it (tools/demo_model/make_fixture.py).

namespace {

namespace tg = totograph;

constexpr tg::Bucket bucket{.variates = 3, .context = 77, .horizon = 32};

template <tg::cuda::Precision precision>
void check(double bound) {
    using Tapped = tg::toto1::WithRewrites<tg::toto1::demo_1_0,
                                           tg::toto1::Rewrites{.last_patch_only = false, .keep_intermediates = true}>;
    const fixture::Tensors tensors(TOTOGRAPH_TEST_DATA "/demo_model");
    const fixture::Inputs inputs(tensors, bucket);
    tg::cuda::Forecaster<Tapped, bucket, tg::cuda::ForecasterOptions{.precision = precision}> forecaster(
        tg::load<tg::toto1::demo_1_0>(TOTOGRAPH_MODELS "/demo"));
    forecaster.fill(inputs.series, bucket, 0);
    forecaster.template run<0>();
    for (const char* parameter : {"df", "loc", "scale", "probs"}) {
        const std::string name = std::string("head_") + parameter;
        fixture::check_close(name, forecaster.template read_state<float>("tap." + name), tensors[name], bound);
    }
    fixture::check_rows("mean_kv", forecaster.forecast(inputs.series).mean(), tensors["mean_kv"], bucket.horizon, bound,
                        bound);
}

}  // namespace

TEST_CASE("the demo checkpoint: head parameters and the mean agree with the reference") {
    check<tg::cuda::Precision::f32>(1e-4);
}

// Eight bits of mantissa in six layers.
TEST_CASE("the demo checkpoint in bf16") {
    check<tg::cuda::Precision::bf16>(2e-2);
}
