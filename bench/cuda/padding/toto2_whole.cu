// SPDX-License-Identifier: Apache-2.0
#include "padding_measure.hpp"

bench::padding::Forecast bench::padding::toto2_whole(const WeightsOf<Toto2>& weights) {
    return make_forecaster<Toto2, toto2_bucket>(weights);
}
