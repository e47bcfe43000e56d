// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

void bench::readme(const Arguments& arguments) {
    measure<tg::Bucket{.variates = 7, .context = 4096, .horizon = 336, .samples = 256}>("readme", arguments);
}
