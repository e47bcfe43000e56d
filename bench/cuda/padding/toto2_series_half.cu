// SPDX-License-Identifier: Apache-2.0
#include "padding_measure.hpp"

bench::padding::Forecast bench::padding::toto2_series_half(const WeightsOf<Toto2>& weights) {
    return make_forecaster<Toto2, with_series(toto2_bucket, 4)>(weights);
}
