// SPDX-License-Identifier: Apache-2.0
#include "kronos_measure.hpp"

void bench::kronos::base_sliding(const Arguments& arguments) {
    measure<tg::kronos::base, sliding>("base_sliding", arguments);
}
