// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("space_first") {
    fixture::check_cuda(fixture::space_first);
}

TEST_CASE("time_only") {
    fixture::check_cuda(fixture::time_only);
}
