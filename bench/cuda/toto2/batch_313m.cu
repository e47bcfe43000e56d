// SPDX-License-Identifier: Apache-2.0
#include "toto2_measure.hpp"

void bench::toto2::batch_313m(const Arguments& arguments) {
    measure<Sized<tg::toto2::toto2_313m>, tg::Bucket{.batch = 64, .variates = 1, .context = 2048, .horizon = 96}>(
        "batch_313m", arguments);
}
