// SPDX-License-Identifier: Apache-2.0
#include "cuda/kronos/kronos_cuda.hpp"

// In f32: nothing slides; the window grows, then slides.

using namespace kronos_cases;
using kronos_fixture::check_cuda;

TEST_CASE("one_series") {
    check_cuda<one_series>("one_series");
}

TEST_CASE("head_of_52") {
    check_cuda<head_of_52>("head_of_52");
}
