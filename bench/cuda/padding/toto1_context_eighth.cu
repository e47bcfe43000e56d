// SPDX-License-Identifier: Apache-2.0
#include "padding_measure.hpp"

bench::padding::Forecast bench::padding::toto1_context_eighth(const WeightsOf<Toto1>& weights) {
    return make_forecaster<Toto1, with_context(toto1_bucket, 256)>(weights);
}
