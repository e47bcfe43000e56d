// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("causal_scaler") {
    fixture::check_cuda(fixture::causal_scaler);
}

TEST_CASE("unstabilized") {
    fixture::check_cuda(fixture::unstabilized);
}

TEST_CASE("tight_stabilizer") {
    fixture::check_cuda(fixture::tight_stabilizer);
}
