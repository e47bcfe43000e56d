// SPDX-License-Identifier: Apache-2.0
#include "kronos_measure.hpp"

void bench::kronos::small_desk(const Arguments& arguments) {
    measure<tg::kronos::small, desk>("small_desk", arguments);
}
