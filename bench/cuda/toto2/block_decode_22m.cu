// SPDX-License-Identifier: Apache-2.0
#include "toto2_measure.hpp"

void bench::toto2::block_decode_22m(const Arguments& arguments) {
    measure<Sized<tg::toto2::toto2_22m, 768>, tg::Bucket{.variates = 1, .context = 1024, .horizon = 2048}>(
        "block_decode_22m", arguments);
}
