// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "models/toto1/modes.hpp"

// Samples of the eager executor are those of the fused one, up to rounding, with passes and without.

using namespace modes;
using tg::ForecasterOptions;

TEST_CASE("eager and fused samples with one seed") {
    const auto eager = forecast_as_recorded<sampled_bucket, tg::toto1::Rewrites{}>();
    check_same("fused", forecast<sampled_bucket, ForecasterOptions{}>(), eager);
    check_same("fused without passes", forecast<sampled_bucket, ForecasterOptions{.passes = tg::Passes::none()}>(),
               eager);
}

<<<<<<< HEAD
=======
TEST_CASE("each tensor that a compiled eager executor keeps agrees with the reference") {
    fixture::check_intermediates<tg::ExecutorKind::eager>(fixture::exogenous);
}

TEST_CASE("programs recorded when a forecaster is made give the samples of the eager executor to the bit") {
    using Eager = tg::Forecaster<Model, sampled_bucket, ForecasterOptions{.executor = tg::ExecutorKind::eager}>;
    Eager compiled(weights());
    tg::EagerForecaster recorded(weights().weights, tg::record_forecast<Model, sampled_bucket>());
    CHECK(recorded.memory_bytes() == compiled.memory_bytes());
    Request request = waves(2, 2, 37);
    make_gaps(request);
    make_groups(request, 2);
    const tg::ForecastOptions options{.seed = 11, .horizon = 19, .samples = 5};
    const auto expected = compiled.forecast(request.series(), options).keep();
    CHECK(different_bits(expected, recorded.forecast(request.series(), options)) == 0);
    CHECK(different_bits(expected, recorded.forecast(request.series(), options)) == 0);
}

>>>>>>> wt-t
TEST_CASE("a forecaster tells of both of its programs, as tables and as pictures") {
    using Forecaster = tg::Forecaster<Model, sampled_bucket>;
    const std::string text = Forecaster::explain();
    for (const char* part : {"sizes 2 x 3 x 40 -> 24, 6 samples", "KV cache",
                             "prefill: the context and the first patch", "decode: one further patch"}) {
        CAPTURE(part);
        CHECK(text.find(part) != std::string::npos);
    }
    const std::string first = Forecaster::explain_dot<0>();
    const std::string further = Forecaster::explain_dot<1>();
    for (const std::string& picture : {first, further}) {
        CHECK(picture.starts_with("digraph"));
        CHECK(std::count(picture.begin(), picture.end(), '{') == std::count(picture.begin(), picture.end(), '}'));
    }
    CHECK(first.find("prefill") != std::string::npos);
    CHECK(further.find("decode") != std::string::npos);
    CHECK(first != further);
}
