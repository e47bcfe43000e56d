// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "cuda/device_test.hpp"
#include "cuda/replay_requests.hpp"

// What holds of many forecasts in a row. A file a precision: they take nvcc long, and much memory.

namespace replay {

using device_test::free_memory;
using device_test::is_same;
using device_test::values_of;

/// Forecasts two requests in turn, a whole one and a part of the bucket, and compares each with its first result.
template <tg::cuda::Precision precision>
void check_many_forecasts() {
    constexpr int rounds = 5000;
    const auto weights = tg::load<Model>(fixture::folder("mixture"));
    tg::cuda::Forecaster<Model, sampled, tg::cuda::ForecasterOptions{.precision = precision}> forecaster(weights);
    const Request whole = request_for(sampled);
    const Request smaller = request_for(part);
    const tg::ForecastOptions as_part{.seed = 3, .horizon = part.horizon, .samples = part.samples};
    const auto expected = values_of(forecaster.forecast(whole.series(), {.seed = seed}));
    const auto expected_part = values_of(forecaster.forecast(smaller.series(), as_part));
    for (const float value : expected) {
        REQUIRE(std::isfinite(value));
    }
    std::size_t free_before = 0;
    int different = 0;
    for (int round = 1; round < rounds; ++round) {
        different += is_same(expected, values_of(forecaster.forecast(whole.series(), {.seed = seed}))) ? 0 : 1;
        different += is_same(expected_part, values_of(forecaster.forecast(smaller.series(), as_part))) ? 0 : 1;
        if (round == 50) {
            free_before = free_memory();
        }
    }
    CHECK(different == 0);
    CHECK(free_memory() >= free_before);
}

}  // namespace replay
