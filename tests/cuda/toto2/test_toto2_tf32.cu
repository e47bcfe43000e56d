// SPDX-License-Identifier: Apache-2.0
#include "cuda/toto2/cuda_cases.hpp"

// In tf32, whose attention alone differs from f32: one pass, uneven heads, and blocks.

using namespace toto2_cases;
using toto2_fixture::check_cuda;
using toto2_fixture::Precision;

TEST_CASE("published_shape, tf32") {
    check_cuda<Precision::tf32, published_shape>("published_shape");
}

TEST_CASE("uneven_heads, tf32") {
    check_cuda<Precision::tf32, uneven_heads>("uneven_heads");
}

TEST_CASE("known_gaps_blocks, tf32") {
    check_cuda<Precision::tf32, known_gaps_blocks>("known_gaps_blocks");
}
