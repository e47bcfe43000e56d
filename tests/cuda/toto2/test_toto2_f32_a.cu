// SPDX-License-Identifier: Apache-2.0
#include "cuda/toto2/cuda_cases.hpp"

// In f32, without and with a bias, uneven heads and norms of queries.

using namespace toto2_cases;
using toto2_fixture::check_cuda;
using toto2_fixture::Precision;

TEST_CASE("published_shape") {
    check_cuda<Precision::f32, published_shape>("published_shape");
}

TEST_CASE("uneven_heads") {
    check_cuda<Precision::f32, uneven_heads>("uneven_heads");
}

TEST_CASE("plain_rope") {
    check_cuda<Precision::f32, plain_rope>("plain_rope");
}

TEST_CASE("normed_grouped_query") {
    check_cuda<Precision::f32, normed_grouped_query>("normed_grouped_query");
}

TEST_CASE("variate_first_groups_of_two") {
    check_cuda<Precision::f32, variate_first_groups_of_two>("variate_first_groups_of_two");
}
