// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("groups_and_gaps, reduced precision") {
    fixture::check_cuda_reduced(fixture::groups_and_gaps);
}

TEST_CASE("all_padding_patch, reduced precision") {
    fixture::check_cuda_reduced(fixture::all_padding_patch);
}

TEST_CASE("std_mean_scaler, reduced precision") {
    fixture::check_cuda_reduced(fixture::std_mean_scaler);
}
