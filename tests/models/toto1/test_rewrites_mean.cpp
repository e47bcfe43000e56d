// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/modes.hpp"

// Each exact rewrite of the algorithm, switched off, gives the same mean forecast up to rounding: the nodes as they are
// recorded without it, against the fused program with all of them.

using namespace modes;
using tg::ForecasterOptions;
using tg::toto1::Rewrites;

namespace {

const std::vector<float>& with_all() {
    static const auto values = forecast_with_all<mean_bucket>();
    return values;
}

std::vector<float> begin_with_all() {
    return forecast_with_all<mean_bucket>(cache_free_horizon);
}

}  // namespace

TEST_CASE("groups that change within the context give another forecast than those of its begin or its end") {
    const auto forecast_of = [](const Request& request) {
        tg::EagerForecaster forecaster(weights().weights, tg::record_forecast<Model, mean_bucket>());
        return values_of(forecaster, request, mean_bucket.horizon);
    };
    const auto change = forecast_of(request_for(mean_bucket));
    check_same("mean", change, with_all());
    Request constant = request_for(mean_bucket);
    make_groups(constant, 2);
    CHECK(fixture::relative_error(change, forecast_of(constant)) > 100 * rounding);
    change_groups(constant, constant.steps);
    CHECK(fixture::relative_error(change, forecast_of(constant)) > 100 * rounding);
}

TEST_CASE("without the KV cache") {
    check_same("mean", forecast_as_recorded<mean_bucket, Rewrites{.kv_cache = false}>(cache_free_horizon),
               begin_with_all());
}

TEST_CASE("with all patches through the head") {
    check_same("mean", forecast_as_recorded<mean_bucket, Rewrites{.last_patch_only = false}>(), with_all());
}

TEST_CASE("with a scaler that reads the whole series at each step") {
    check_same("mean", forecast_as_recorded<mean_bucket, Rewrites{.incremental_scaler = false}>(), with_all());
}

TEST_CASE("with space-wise attention over a lone variate") {
    constexpr tg::Bucket lone{.batch = 2, .variates = 1, .context = 40, .horizon = 24};
    check_same("mean", forecast_as_recorded<lone, Rewrites{.skip_lone_variate = false}>(),
               forecast<lone, ForecasterOptions{}>(), lone.batch);
}

TEST_CASE("without any rewrite") {
    constexpr ForecasterOptions plain{.passes = tg::Passes::none()};
    constexpr Rewrites none{.kv_cache = false,
                            .share_prefix = false,
                            .last_patch_only = false,
                            .incremental_scaler = false,
                            .skip_lone_variate = false};
    check_same("mean", forecast<mean_bucket, plain, none>(cache_free_horizon), begin_with_all());
}
