// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/cases.hpp"

// Five cases whose models differ in what is compiled: the head, the order of layers, the scaler, exogenous variates,
// and the width of heads. Tensors on the way are compared of two of them; of all cases, and what is planned without a
// cache, test_parity_recorded.cpp compares them by the plans, which say what is compiled.

TEST_CASE("student_t: the fused executor agrees with the reference") {
    fixture::check_mean<fixture::tg::toto1::Rewrites{}>(fixture::student_t);
}

TEST_CASE("space_first: the fused executor agrees with the reference") {
    fixture::check_mean<fixture::tg::toto1::Rewrites{}>(fixture::space_first);
}

TEST_CASE("exogenous: the fused executor agrees with the reference") {
    fixture::check_fused(fixture::exogenous);
}
