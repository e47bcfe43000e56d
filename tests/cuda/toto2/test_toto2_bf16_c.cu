// SPDX-License-Identifier: Apache-2.0
#include "cuda/toto2/cuda_cases.hpp"

// In bf16, what series can be like.

using namespace toto2_cases;
using toto2_fixture::check_cuda;
using toto2_fixture::Precision;

TEST_CASE("flag_off_with_gaps, bf16") {
    check_cuda<Precision::bf16, flag_off_with_gaps>("flag_off_with_gaps");
}

TEST_CASE("empty_variate_capped, bf16") {
    check_cuda<Precision::bf16, empty_variate_capped>("empty_variate_capped");
}

TEST_CASE("one_patch, bf16") {
    check_cuda<Precision::bf16, one_patch>("one_patch");
}

TEST_CASE("levels, bf16") {
    check_cuda<Precision::bf16, levels>("levels");
}
