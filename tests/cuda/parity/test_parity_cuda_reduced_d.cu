// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("causal_scaler, reduced precision") {
    fixture::check_cuda_reduced(fixture::causal_scaler);
}

TEST_CASE("unstabilized, reduced precision") {
    fixture::check_cuda_reduced(fixture::unstabilized);
}

TEST_CASE("tight_stabilizer, reduced precision") {
    fixture::check_cuda_reduced(fixture::tight_stabilizer);
}
