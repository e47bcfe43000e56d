// SPDX-License-Identifier: Apache-2.0
#include "kronos_measure.hpp"

void bench::kronos::base_paths(const Arguments& arguments) {
    measure<tg::kronos::base, paths>("base_paths", arguments);
}
