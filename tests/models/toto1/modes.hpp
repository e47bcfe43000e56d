// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <totograph/forecast/cpu/eager_forecaster.hpp>

#include "models/toto1/cases.hpp"
#include "models/toto1/series.hpp"
#include "models/toto1/shared_forecasters.hpp"

// One request, forecast by differently compiled forecasters.

namespace modes {

using namespace made_up;
using Model = fixture::models::Small;

using shared::mean_bucket;
using shared::sampled_bucket;
inline constexpr Index cache_free_horizon = 16;

inline const auto& weights() {
    static const auto loaded = tg::load<Model>(fixture::folder("mixture"));
    return loaded;
}

/// The request that all modes are compared with: gaps, and groups of variates that change within the context.
inline Request request_for(const tg::Bucket& bucket) {
    Request request = waves(bucket.batch, bucket.variates, bucket.context);
    make_gaps(request);
    make_groups(request, 2);
    change_groups(request, 2 * Model::config.patch_size);
    return request;
}

/// Values of a forecaster's forecast of a request, `[batch, variates, horizon, samples or 1]`.
template <class Forecaster>
std::vector<float> values_of(Forecaster& forecaster, const Request& request, Index horizon) {
    const tg::Forecast result = forecaster.forecast(request.series(), {.seed = 11, .horizon = horizon});
    if (result.sample_count() > 0) {
        return {result.samples().begin(), result.samples().end()};
    }
    return result.mean();
}

/// With all passes and rewrites.
template <tg::Bucket bucket>
std::vector<float> forecast_with_all(Index horizon = bucket.horizon) {
    const auto forecaster = shared::make_forecaster<bucket>(weights().weights, 2);
    return values_of(*forecaster, request_for(bucket), horizon);
}

template <tg::Bucket bucket, tg::ForecasterOptions options, tg::toto1::Rewrites rewrites = tg::toto1::Rewrites{}>
std::vector<float> forecast(Index horizon = bucket.horizon, const tg::ModelWeights<Model>& from = weights()) {
    tg::Forecaster<tg::toto1::WithRewrites<Model, rewrites>, bucket, options> forecaster(from, {.threads = 2});
    return values_of(forecaster, request_for(bucket), horizon);
}

/// The same by the nodes as they are recorded, which takes the compiler much less time.
template <tg::Bucket bucket, tg::toto1::Rewrites rewrites>
std::vector<float> forecast_as_recorded(Index horizon = bucket.horizon) {
    tg::EagerForecaster forecaster(weights().weights,
                                   tg::record_forecast<tg::toto1::WithRewrites<Model, rewrites>, bucket>());
    return values_of(forecaster, request_for(bucket), horizon);
}

/// Rounding, relative to the largest magnitude, of all variates and of each: an f32 has 24 bits, and what runs in
/// another order rounds differently at every operation of four layers and up to three steps.
inline constexpr double rounding = 1e-5;

/// Samples agree to rounding as well: the only jump is from one component of a mixture to another, when a uniform
/// number lies between two roundings of a cumulative probability. That happens once in some million draws; these are
/// hundreds, with a fixed seed. A row is all that is forecast of a variate.
inline void check_same(const char* what, const std::vector<float>& found, const std::vector<float>& expected,
                       Index rows = mean_bucket.batch * mean_bucket.variates) {
    fixture::check_rows(what, found, expected, expected.size() / static_cast<std::size_t>(rows), rounding, rounding);
}

}  // namespace modes
