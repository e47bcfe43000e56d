// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("large_offset, reduced precision") {
    fixture::check_cuda_reduced(fixture::large_offset);
}

TEST_CASE("constant, reduced precision") {
    fixture::check_cuda_reduced(fixture::constant);
}
