// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/cases.hpp"

TEST_CASE("mixture: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::mixture);
}
TEST_CASE("univariate_one_patch: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::univariate_one_patch);
}
TEST_CASE("student_t: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::student_t);
}
TEST_CASE("space_first: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::space_first);
}
TEST_CASE("time_only: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::time_only);
}
TEST_CASE("mixture: the fused executor agrees with the reference without a cache") {
    fixture::check_fused_recomputation(fixture::mixture);
}
TEST_CASE("student_t: the fused executor agrees with the reference without a cache") {
    fixture::check_fused_recomputation(fixture::student_t);
}
