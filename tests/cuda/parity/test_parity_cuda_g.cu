// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("wide_heads") {
    fixture::check_cuda(fixture::wide_heads);
}
