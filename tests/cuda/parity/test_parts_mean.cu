// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/parts.hpp"

TEST_CASE("a part of a bucket of the mean is forecast as a bucket of its size forecasts it") {
    replay::check_part<totograph::Bucket{.batch = 2, .variates = 3, .context = 64, .horizon = 24},
                       totograph::Bucket{.batch = 1, .variates = 2, .context = 29, .horizon = 11}>();
}
