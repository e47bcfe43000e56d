// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

void bench::dashboard(const Arguments& arguments) {
    measure<tg::Bucket{.variates = 8, .context = 2048, .horizon = 96, .samples = 256}>("dashboard", arguments);
}
