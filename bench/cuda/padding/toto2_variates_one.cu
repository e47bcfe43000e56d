// SPDX-License-Identifier: Apache-2.0
#include "padding_measure.hpp"

bench::padding::Forecast bench::padding::toto2_variates_one(const WeightsOf<Toto2>& weights) {
    return make_forecaster<Toto2, with_variates(toto2_bucket, 1)>(weights);
}
