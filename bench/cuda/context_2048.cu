// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

void bench::context_2048(const Arguments& arguments) {
    measure<tg::Bucket{.variates = 1, .context = 2048, .horizon = 64, .samples = 0}>("context_2048", arguments);
}
