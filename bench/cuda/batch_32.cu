// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

void bench::batch_32(const Arguments& arguments) {
    measure<tg::Bucket{.batch = 32, .variates = 1, .context = 512, .horizon = 192, .samples = 0}>("batch_32",
                                                                                                  arguments);
}
