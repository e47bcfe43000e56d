// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("mixture") {
    fixture::check_cuda(fixture::mixture);
}

TEST_CASE("univariate_one_patch") {
    fixture::check_cuda(fixture::univariate_one_patch);
}

TEST_CASE("student_t") {
    fixture::check_cuda(fixture::student_t);
}
