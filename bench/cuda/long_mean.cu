// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

void bench::long_mean(const Arguments& arguments) {
    measure<tg::Bucket{.variates = 1, .context = 4096, .horizon = 768, .samples = 0}>("long_mean", arguments);
}
