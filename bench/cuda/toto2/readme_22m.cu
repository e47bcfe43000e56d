// SPDX-License-Identifier: Apache-2.0
#include "toto2_measure.hpp"

void bench::toto2::readme_22m(const Arguments& arguments) {
    measure<Sized<tg::toto2::toto2_22m>, tg::Bucket{.variates = 7, .context = 4096, .horizon = 336}>("readme_22m",
                                                                                                     arguments);
}
