// SPDX-License-Identifier: Apache-2.0
#include "throughput_measure.hpp"

void bench::throughput::series_1(const toto2::Arguments& arguments) {
    measure<1>(arguments);
}
