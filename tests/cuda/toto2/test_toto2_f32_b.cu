// SPDX-License-Identifier: Apache-2.0
#include "cuda/toto2/cuda_cases.hpp"

// In f32, what block decode brings.

using namespace toto2_cases;
using toto2_fixture::check_cuda;
using toto2_fixture::Precision;

TEST_CASE("known_gaps_blocks") {
    check_cuda<Precision::f32, known_gaps_blocks>("known_gaps_blocks");
}

TEST_CASE("leading_gaps_blocks") {
    check_cuda<Precision::f32, leading_gaps_blocks>("leading_gaps_blocks");
}

TEST_CASE("few_observations") {
    check_cuda<Precision::f32, few_observations>("few_observations");
}

TEST_CASE("long_positions") {
    check_cuda<Precision::f32, long_positions>("long_positions");
}
