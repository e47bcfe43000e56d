// SPDX-License-Identifier: Apache-2.0
#include "cuda/kronos/kronos_cuda.hpp"

// In f32: a window that slides from the first step on, of one layer and of four.

using namespace kronos_cases;
using kronos_fixture::check_cuda;

TEST_CASE("sliding_window") {
    check_cuda<sliding_window>("sliding_window");
}

TEST_CASE("no_volume") {
    check_cuda<no_volume>("no_volume");
}
