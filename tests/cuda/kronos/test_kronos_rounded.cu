// SPDX-License-Identifier: Apache-2.0
#include "cuda/kronos/kronos_cuda.hpp"

// In bf16 and tf32, where the predictor rounds and the tokenizer does not. Weights alone, rounded to bf16, move logits
// by 5e-3 of the largest of a row; six times that, for tensor cores cut off both inputs of a product where this rounds
// one, and each is one draw of a random error. tf32 has 3 bits more.

using namespace kronos_cases;
using kronos_fixture::check_cuda_rounded;
using kronos_fixture::Precision;

TEST_CASE("one_series, bf16") {
    check_cuda_rounded<one_series, Precision::bf16>("one_series", 3e-2);
}

TEST_CASE("sliding_window, bf16") {
    check_cuda_rounded<sliding_window, Precision::bf16>("sliding_window", 3e-2);
}

// Here the window's rows that all paths have in common are computed once.
TEST_CASE("no_volume, bf16") {
    check_cuda_rounded<no_volume, Precision::bf16>("no_volume", 3e-2);
}

TEST_CASE("no_volume, tf32") {
    check_cuda_rounded<no_volume, Precision::tf32>("no_volume", 4e-3);
}

TEST_CASE("one_series, tf32") {
    check_cuda_rounded<one_series, Precision::tf32>("one_series", 4e-3);
}
