// SPDX-License-Identifier: Apache-2.0
#include "kronos_measure.hpp"

void bench::kronos::mini_one_symbol(const Arguments& arguments) {
    measure<tg::kronos::mini, one_symbol>("mini_one_symbol", arguments);
}
