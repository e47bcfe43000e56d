// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/cases.hpp"

TEST_CASE("groups_and_gaps: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::groups_and_gaps);
}
TEST_CASE("all_padding_patch: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::all_padding_patch);
}
TEST_CASE("std_mean_scaler: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::std_mean_scaler);
}
TEST_CASE("causal_scaler: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::causal_scaler);
}
TEST_CASE("unstabilized: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::unstabilized);
}
