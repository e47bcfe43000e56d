// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/modes.hpp"

// Each exact rewrite of the algorithm, switched off, gives the same samples up to rounding: the nodes as they are
// recorded without it, against the fused program with all of them.

using namespace modes;
using tg::ForecasterOptions;
using tg::toto1::Rewrites;

namespace {

const std::vector<float>& with_all() {
    static const auto values = forecast_with_all<sampled_bucket>();
    return values;
}

std::vector<float> begin_with_all() {
    return forecast_with_all<sampled_bucket>(cache_free_horizon);
}

}  // namespace

TEST_CASE("without the KV cache") {
    check_same("samples", forecast_as_recorded<sampled_bucket, Rewrites{.kv_cache = false}>(cache_free_horizon),
               begin_with_all());
}

TEST_CASE("with a prefix for each sample") {
    check_same("samples", forecast_as_recorded<sampled_bucket, Rewrites{.share_prefix = false}>(), with_all());
}

TEST_CASE("with all patches through the head") {
    check_same("samples", forecast_as_recorded<sampled_bucket, Rewrites{.last_patch_only = false}>(), with_all());
}

TEST_CASE("with a scaler that reads the whole series at each step") {
    check_same("samples", forecast_as_recorded<sampled_bucket, Rewrites{.incremental_scaler = false}>(), with_all());
}

TEST_CASE("with space-wise attention over a lone variate") {
    constexpr tg::Bucket lone{.batch = 2, .variates = 1, .context = 40, .horizon = 24, .samples = 6};
    check_same("samples", forecast_as_recorded<lone, Rewrites{.skip_lone_variate = false}>(),
               forecast<lone, ForecasterOptions{}>(), lone.batch);
}

TEST_CASE("without any rewrite") {
    constexpr Rewrites none{.kv_cache = false,
                            .share_prefix = false,
                            .last_patch_only = false,
                            .incremental_scaler = false,
                            .skip_lone_variate = false};
    check_same("samples", forecast_as_recorded<sampled_bucket, none>(cache_free_horizon), begin_with_all());
}
