// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

void bench::one_patch_samples(const Arguments& arguments) {
    measure<tg::Bucket{.variates = 1, .context = 512, .horizon = 64, .samples = 128}>("one_patch_samples", arguments);
}
