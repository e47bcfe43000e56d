// SPDX-License-Identifier: Apache-2.0
#include "kronos_measure.hpp"

void bench::kronos::base_one_symbol(const Arguments& arguments) {
    measure<tg::kronos::base, one_symbol>("base_one_symbol", arguments);
}
