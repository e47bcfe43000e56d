// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/many_forecasts.hpp"

TEST_CASE("10,000 forecasts in tf32 give the same bits, and no memory goes") {
    replay::check_many_forecasts<totograph::cuda::Precision::tf32>();
}
