// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("space_first, reduced precision") {
    fixture::check_cuda_reduced(fixture::space_first);
}

TEST_CASE("time_only, reduced precision") {
    fixture::check_cuda_reduced(fixture::time_only);
}
