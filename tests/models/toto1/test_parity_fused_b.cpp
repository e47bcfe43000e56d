// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/cases.hpp"

// As test_parity_fused_a.cpp; and the mean of all cases of one model, by one bucket that they fit.

namespace {

constexpr fixture::tg::Bucket shared_bucket{.batch = 2, .variates = 5, .context = 64, .horizon = 24};

}  // namespace

TEST_CASE("causal_scaler: the fused executor agrees with the reference") {
    fixture::check_mean<fixture::tg::toto1::Rewrites{}>(fixture::causal_scaler);
}

TEST_CASE("wide_heads: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::wide_heads);
}

TEST_CASE("causal_scaler: the fused executor agrees with the reference without a cache") {
    fixture::check_fused_recomputation(fixture::causal_scaler);
}

TEST_CASE("mixture: the fused executor's mean agrees with the reference") {
    fixture::check_mean_in<shared_bucket>(fixture::mixture);
}

TEST_CASE("univariate_one_patch: the fused executor's mean agrees with the reference") {
    fixture::check_mean_in<shared_bucket>(fixture::univariate_one_patch);
}

TEST_CASE("groups_and_gaps: the fused executor's mean agrees with the reference") {
    fixture::check_mean_in<shared_bucket>(fixture::groups_and_gaps);
}

TEST_CASE("all_padding_patch: the fused executor's mean agrees with the reference") {
    fixture::check_mean_in<shared_bucket>(fixture::all_padding_patch);
}

TEST_CASE("large_offset: the fused executor's mean agrees with the reference") {
    fixture::check_mean_in<shared_bucket>(fixture::large_offset);
}

TEST_CASE("constant: the fused executor's mean agrees with the reference") {
    fixture::check_mean_in<shared_bucket>(fixture::constant);
}
