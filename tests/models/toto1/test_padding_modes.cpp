// SPDX-License-Identifier: Apache-2.0
#include <totograph/forecast/cpu/eager_forecaster.hpp>

#include "models/toto1/cases.hpp"
#include "models/toto1/series.hpp"

// Padding invariance of the other scalers and of forecasts without a cache, bit for bit, and of the eager executor, up
// to rounding: its GEMMs are Eigen's, which adds in another order for another number of rows.

using namespace made_up;

namespace {

constexpr tg::Bucket largest{.batch = 2, .variates = 4, .context = 48, .horizon = 24};
constexpr tg::Bucket smaller{.batch = 1, .variates = 2, .context = 13, .horizon = 12};

Request short_request() {
    Request request = waves(1, 2, 13);
    make_gaps(request);
    return request;
}

template <class Model>
void check_padding(const char* checkpoint) {
    const auto weights = tg::load<typename tg::CheckpointOf<Model>::type>(fixture::folder(checkpoint));
    tg::Forecaster<Model, smaller> exact(weights, {.threads = 1});
    tg::Forecaster<Model, largest> large(weights, {.threads = 2});
    const Request request = short_request();
    const auto expected = exact.forecast(request.series()).keep();
    const auto found = large.forecast(request.series(), {.horizon = smaller.horizon});
    CHECK(different_bits(expected, found) == 0);
}

}  // namespace

TEST_CASE("one scale for the whole context") {
    check_padding<fixture::models::GlobalScaler>("std_mean_scaler");
}

TEST_CASE("a causal scale at each step") {
    check_padding<fixture::models::CausalScaler>("causal_scaler");
}

TEST_CASE("without a cache") {
    check_padding<tg::toto1::WithRewrites<fixture::models::Small, tg::toto1::Rewrites{.kv_cache = false}>>("mixture");
}

TEST_CASE("the eager executor") {
    using Model = fixture::models::Small;
    const auto weights = tg::load<Model>(fixture::folder("mixture")).weights;
    tg::EagerForecaster exact(weights, tg::record_forecast<Model, smaller>());
    tg::EagerForecaster large(weights, tg::record_forecast<Model, largest>());
    const Request request = short_request();
    const auto expected = exact.forecast(request.series()).mean();
    fixture::check_close("mean", large.forecast(request.series(), {.horizon = smaller.horizon}).mean(), expected, 1e-5);
}
