// SPDX-License-Identifier: Apache-2.0
#include "cuda/toto2/cuda_cases.hpp"

// In bf16, what models can be like.

using namespace toto2_cases;
using toto2_fixture::check_cuda;
using toto2_fixture::Precision;

TEST_CASE("published_shape, bf16") {
    check_cuda<Precision::bf16, published_shape>("published_shape");
}

TEST_CASE("uneven_heads, bf16") {
    check_cuda<Precision::bf16, uneven_heads>("uneven_heads");
}

TEST_CASE("plain_rope, bf16") {
    check_cuda<Precision::bf16, plain_rope>("plain_rope");
}

TEST_CASE("normed_grouped_query, bf16") {
    check_cuda<Precision::bf16, normed_grouped_query>("normed_grouped_query");
}

TEST_CASE("variate_first_groups_of_two, bf16") {
    check_cuda<Precision::bf16, variate_first_groups_of_two>("variate_first_groups_of_two");
}
