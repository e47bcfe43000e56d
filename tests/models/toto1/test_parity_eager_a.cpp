// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/cases.hpp"

TEST_CASE("mixture: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::mixture);
}
TEST_CASE("univariate_one_patch: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::univariate_one_patch);
}
TEST_CASE("student_t: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::student_t);
}
TEST_CASE("space_first: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::space_first);
}
TEST_CASE("time_only: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::time_only);
}
