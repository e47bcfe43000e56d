// SPDX-License-Identifier: Apache-2.0
#include "cuda/toto2/cuda_cases.hpp"

// Tensors on the way: one pass with heads of another width for values, and two passes with gaps and known futures.

TEST_CASE("uneven_heads, every tensor") {
    toto2_fixture::check_cuda_intermediates<toto2_cases::uneven_heads>("uneven_heads");
}

TEST_CASE("known_gaps_blocks, every tensor") {
    toto2_fixture::check_cuda_intermediates<toto2_cases::known_gaps_blocks>("known_gaps_blocks");
}
