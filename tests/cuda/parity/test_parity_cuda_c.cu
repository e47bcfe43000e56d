// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("groups_and_gaps") {
    fixture::check_cuda(fixture::groups_and_gaps);
}

TEST_CASE("all_padding_patch") {
    fixture::check_cuda(fixture::all_padding_patch);
}

TEST_CASE("std_mean_scaler") {
    fixture::check_cuda(fixture::std_mean_scaler);
}
