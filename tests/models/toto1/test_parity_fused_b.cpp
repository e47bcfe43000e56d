// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/cases.hpp"

TEST_CASE("groups_and_gaps: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::groups_and_gaps);
}
TEST_CASE("all_padding_patch: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::all_padding_patch);
}
TEST_CASE("std_mean_scaler: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::std_mean_scaler);
}
TEST_CASE("causal_scaler: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::causal_scaler);
}
TEST_CASE("unstabilized: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::unstabilized);
}
TEST_CASE("std_mean_scaler: the fused executor agrees with the reference without a cache") {
    fixture::check_fused_recomputation(fixture::std_mean_scaler);
}
TEST_CASE("causal_scaler: the fused executor agrees with the reference without a cache") {
    fixture::check_fused_recomputation(fixture::causal_scaler);
}
