// SPDX-License-Identifier: Apache-2.0
#include "padding_measure.hpp"

bench::padding::Forecast bench::padding::toto2_context_half(const WeightsOf<Toto2>& weights) {
    return make_forecaster<Toto2, with_context(toto2_bucket, 1024)>(weights);
}
