// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "models/toto1/modes.hpp"

// Samples of the eager executor are those of the fused one, up to rounding, with passes and without.

using namespace modes;
using tg::ForecasterOptions;

TEST_CASE("eager and fused samples with one seed") {
    const auto eager = forecast_as_recorded<sampled_bucket, tg::toto1::Rewrites{}>();
    check_same("fused", forecast_with_all<sampled_bucket>(), eager);
    check_same("fused without passes", forecast<sampled_bucket, ForecasterOptions{.passes = tg::Passes::none()}>(),
               eager);
}

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
