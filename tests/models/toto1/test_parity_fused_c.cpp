// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/cases.hpp"

TEST_CASE("tight_stabilizer: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::tight_stabilizer);
}
TEST_CASE("large_offset: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::large_offset);
}
TEST_CASE("constant: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::constant);
}
TEST_CASE("exogenous: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::exogenous);
}
TEST_CASE("wide_heads: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::wide_heads);
}
TEST_CASE("exogenous: the fused executor agrees with the reference without a cache") {
    fixture::check_fused_recomputation(fixture::exogenous);
}
