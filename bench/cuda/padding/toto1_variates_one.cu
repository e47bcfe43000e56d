// SPDX-License-Identifier: Apache-2.0
#include "padding_measure.hpp"

bench::padding::Forecast bench::padding::toto1_variates_one(const WeightsOf<Toto1>& weights) {
    return make_forecaster<Toto1, with_variates(toto1_bucket, 1)>(weights);
}
