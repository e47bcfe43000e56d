// SPDX-License-Identifier: Apache-2.0
#include "padding_measure.hpp"

bench::padding::Forecast bench::padding::toto1_series_eighth(const WeightsOf<Toto1>& weights) {
    return make_forecaster<Toto1, with_series(toto1_bucket, 1)>(weights);
}
