// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/cases.hpp"

TEST_CASE("tight_stabilizer: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::tight_stabilizer);
}
TEST_CASE("large_offset: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::large_offset);
}
TEST_CASE("constant: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::constant);
}
TEST_CASE("exogenous: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::exogenous);
}
TEST_CASE("wide_heads: the eager executor agrees with the reference") {
    fixture::check_eager(fixture::wide_heads);
}
