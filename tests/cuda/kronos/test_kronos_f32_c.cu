// SPDX-License-Identifier: Apache-2.0
#include "cuda/kronos/kronos_cuda.hpp"

// In f32: no amount, values beyond the clip; ids of unequal bits.

using namespace kronos_cases;
using kronos_fixture::check_cuda;

TEST_CASE("no_amount_clipped") {
    check_cuda<no_amount_clipped>("no_amount_clipped");
}

TEST_CASE("unequal_bits") {
    check_cuda<unequal_bits>("unequal_bits");
}
