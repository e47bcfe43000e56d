// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/cuda_fixture.hpp"

TEST_CASE("mixture, reduced precision") {
    fixture::check_cuda_reduced(fixture::mixture);
}

TEST_CASE("univariate_one_patch, reduced precision") {
    fixture::check_cuda_reduced(fixture::univariate_one_patch);
}

TEST_CASE("student_t, reduced precision") {
    fixture::check_cuda_reduced(fixture::student_t);
}
