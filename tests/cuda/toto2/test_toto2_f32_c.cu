// SPDX-License-Identifier: Apache-2.0
#include "cuda/toto2/cuda_cases.hpp"

// In f32, what series can be like.

using namespace toto2_cases;
using toto2_fixture::check_cuda;
using toto2_fixture::Precision;

TEST_CASE("flag_off_with_gaps") {
    check_cuda<Precision::f32, flag_off_with_gaps>("flag_off_with_gaps");
}

TEST_CASE("empty_variate_capped") {
    check_cuda<Precision::f32, empty_variate_capped>("empty_variate_capped");
}

TEST_CASE("one_patch") {
    check_cuda<Precision::f32, one_patch>("one_patch");
}

TEST_CASE("levels") {
    check_cuda<Precision::f32, levels>("levels");
}
