// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/cases.hpp"

// Five cases whose models differ in what is compiled: the head, the order of layers, the scaler, exogenous variates,
// and the width of heads. The plans of all cases, which say what is compiled, test_parity_recorded.cpp runs.

TEST_CASE("student_t: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::student_t);
}

TEST_CASE("space_first: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::space_first);
}

TEST_CASE("exogenous: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::exogenous);
}

TEST_CASE("exogenous: the fused executor agrees with the reference without a cache") {
    fixture::check_fused_recomputation(fixture::exogenous);
}
