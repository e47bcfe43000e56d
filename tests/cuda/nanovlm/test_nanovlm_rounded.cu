// SPDX-License-Identifier: Apache-2.0
#include "cuda/nanovlm/nanovlm_cuda.hpp"

// In bf16 and tf32. Weights alone, rounded to bf16 on a CPU, stay within 2e-2 of the largest logit of a row; products
// on tensor cores round both inputs. tf32 has 3 bits more.

using namespace nanovlm_cases;
using nanovlm_fixture::check_cuda_rounded;
using nanovlm_fixture::Precision;

TEST_CASE("tokens_15_to_5, bf16") {
    check_cuda_rounded<tokens_15_to_5, Precision::bf16>("tokens_15_to_5", 4e-2);
}

TEST_CASE("vision_and_language, bf16") {
    check_cuda_rounded<vision_and_language, Precision::bf16>("vision_and_language", 4e-2);
}

TEST_CASE("vision_and_language, tf32") {
    check_cuda_rounded<vision_and_language, Precision::tf32>("vision_and_language", 5e-3);
}
