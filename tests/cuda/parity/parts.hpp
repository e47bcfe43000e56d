// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "cuda/device_test.hpp"
#include "cuda/replay_requests.hpp"

// Forecasts of a part of a bucket.

namespace replay {

/// A part of a bucket against a bucket of that size. Other sizes may run other algorithms, which sum in another order.
template <tg::Bucket whole, tg::Bucket smaller>
void check_part() {
    constexpr tg::cuda::ForecasterOptions options{.precision = tg::cuda::Precision::f32};
    const auto weights = tg::load<Model>(fixture::folder("mixture"));
    tg::cuda::Forecaster<Model, whole, options> large(weights);
    tg::cuda::Forecaster<Model, smaller, options> exact(weights);
    const Request request = request_for(smaller);
    tg::ForecastOptions as_part{.seed = seed, .horizon = smaller.horizon, .samples = smaller.samples};
    // What a request of the whole bucket leaves behind has no part in it.
    const Request before = request_for(whole);
    (void)large.forecast(before.series(), {.seed = 1});
    const auto found = device_test::values_of(large.forecast(request.series(), as_part));
    const auto expected = device_test::values_of(exact.forecast(request.series(), {.seed = seed}));
    fixture::check_close(tg::to_string(smaller) + " inside " + tg::to_string(whole), found, expected, 1e-6);
}

}  // namespace replay
