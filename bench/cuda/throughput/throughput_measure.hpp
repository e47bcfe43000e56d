// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

#include "../toto2/toto2_measure.hpp"

// Forecasts of Toto 2.0 22m of so many series at a time, of 4,096 steps each.

namespace bench::throughput {

/// Times whole forecasts as a caller sees them, host to host, and prints a line.
template <Index series, Precision precision>
void measure_precision(const toto2::Arguments& arguments) {
    const std::string name = "series_" + std::to_string(series);
    if (!arguments.wants(name, precision)) {
        return;
    }
    constexpr tg::Bucket bucket{.batch = series, .variates = 1, .context = 4096, .horizon = 96};
    using Model = toto2::Sized<tg::toto2::toto2_22m>;
    using Forecaster = tg::cuda::Forecaster<Model, bucket, tg::cuda::ForecasterOptions{.precision = precision}>;
    Forecaster forecaster(tg::untrained<typename Model::Checkpoint>());
    const auto values = random_walks(bucket);
    const tg::Series given{.batch = series, .variates = 1, .steps = bucket.context, .values = values};
    const Spread whole = spread_of(arguments.repeats, [&] { forecaster.forecast(given); });
    std::printf(
        "{\"implementation\": \"totograph-cuda\", \"workload\": \"%s\", \"precision\": \"%s\", \"median_ms\": %.4f, "
        "\"min_ms\": %.4f, \"max_ms\": %.4f, \"series_per_second\": %.0f, \"device_mib\": %.1f}\n",
        name.c_str(), tg::cuda::name(precision), whole.median, whole.least, whole.most,
        1000 * static_cast<double>(series) / whole.median, static_cast<double>(Forecaster::device_bytes()) / 1048576);
    std::fflush(stdout);
}

template <Index series>
void measure(const toto2::Arguments& arguments) {
    measure_precision<series, Precision::bf16>(arguments);
    measure_precision<series, Precision::tf32>(arguments);
}

// One file each, so that they compile side by side.
void series_1(const toto2::Arguments& arguments);
void series_8(const toto2::Arguments& arguments);
void series_32(const toto2::Arguments& arguments);
void series_128(const toto2::Arguments& arguments);
void series_512(const toto2::Arguments& arguments);

}  // namespace bench::throughput
