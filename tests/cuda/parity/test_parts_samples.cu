// SPDX-License-Identifier: Apache-2.0
#include "cuda/parity/parts.hpp"

TEST_CASE("a part of a bucket of samples is forecast as a bucket of its size forecasts it") {
    replay::check_part<replay::sampled, replay::part>();
}
