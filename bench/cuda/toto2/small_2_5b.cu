// SPDX-License-Identifier: Apache-2.0
#include "toto2_measure.hpp"

void bench::toto2::small_2_5b(const Arguments& arguments) {
    measure<Sized<tg::toto2::toto2_2_5b>, tg::Bucket{.variates = 1, .context = 512, .horizon = 96}>("small_2_5b",
                                                                                                    arguments);
}
