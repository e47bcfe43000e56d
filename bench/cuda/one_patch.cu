// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

void bench::one_patch(const Arguments& arguments) {
    measure<tg::Bucket{.variates = 1, .context = 512, .horizon = 64, .samples = 0}>("one_patch", arguments);
}
