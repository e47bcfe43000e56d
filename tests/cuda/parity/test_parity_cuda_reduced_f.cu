// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("exogenous, reduced precision") {
    fixture::check_cuda_reduced(fixture::exogenous);
}
