// SPDX-License-Identifier: Apache-2.0
#include "kronos_measure.hpp"

void bench::kronos::base_desk(const Arguments& arguments) {
    measure<tg::kronos::base, desk>("base_desk", arguments);
}
