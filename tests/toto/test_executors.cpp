// SPDX-License-Identifier: Apache-2.0
#include "toto/modes.hpp"

// Samples of the eager executor are those of the fused one, up to rounding, with passes and without.

using namespace modes;
using tg::ForecasterOptions;

TEST_CASE("eager and fused samples with one seed") {
    const auto eager = forecast<sampled_bucket, ForecasterOptions{.executor = tg::ExecutorKind::eager}>();
    check_same("fused", forecast<sampled_bucket, ForecasterOptions{}>(), eager);
    check_same("fused without passes", forecast<sampled_bucket, ForecasterOptions{.passes = tg::Passes::none()}>(),
               eager);
}
