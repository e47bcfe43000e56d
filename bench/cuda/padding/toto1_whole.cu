// SPDX-License-Identifier: Apache-2.0
#include "padding_measure.hpp"

bench::padding::Forecast bench::padding::toto1_whole(const WeightsOf<Toto1>& weights) {
    return make_forecaster<Toto1, toto1_bucket>(weights);
}
