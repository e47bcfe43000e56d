// SPDX-License-Identifier: Apache-2.0
#include "cuda/nanovlm/nanovlm_cuda.hpp"

// In f32: groups of heads and an odd vocabulary; pixels and padded prompts.

using namespace nanovlm_cases;
using nanovlm_fixture::check_cuda;

TEST_CASE("tokens_15_to_5") {
    check_cuda<tokens_15_to_5>("tokens_15_to_5");
}

TEST_CASE("vision_and_language") {
    check_cuda<vision_and_language>("vision_and_language");
}
