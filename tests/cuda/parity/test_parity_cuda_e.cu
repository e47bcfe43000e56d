// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("large_offset") {
    fixture::check_cuda(fixture::large_offset);
}

TEST_CASE("constant") {
    fixture::check_cuda(fixture::constant);
}
