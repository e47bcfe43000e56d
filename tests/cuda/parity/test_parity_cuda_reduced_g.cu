// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("wide_heads, reduced precision") {
    fixture::check_cuda_reduced(fixture::wide_heads);
}
