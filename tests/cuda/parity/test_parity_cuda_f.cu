// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("exogenous") {
    fixture::check_cuda(fixture::exogenous);
}
