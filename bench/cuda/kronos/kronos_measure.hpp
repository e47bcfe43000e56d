// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/models/kronos/candle_forecaster.hpp>

#include "../../candle_walk.hpp"
#include "../measure.hpp"

// Whole forecasts of Kronos: candles in, paths out.

namespace bench::kronos {

struct Arguments {
    std::vector<std::string> workloads;
    std::vector<std::string> precisions{"bf16", "tf32"};
    int repeats = 50;
    bool launch_costs = false;  ///< What each launch adds, too.

    [[nodiscard]] bool wants(std::string_view workload, Precision precision) const {
        const auto has = [](const std::vector<std::string>& list, std::string_view item) {
            return list.empty() || std::find(list.begin(), list.end(), item) != list.end();
        };
        return has(workloads, workload) && has(precisions, tg::cuda::name(precision));
    }
};

/// Times whole calls in one precision, as a caller sees them, and prints a line.
template <class Model, tg::Bucket bucket, Precision precision>
void measure_precision(const char* name, const Arguments& arguments) {
    if (!arguments.wants(name, precision)) {
        return;
    }
    using Forecaster = tg::kronos::CandleForecaster<Model, bucket, tg::cuda::ForecasterOptions{.precision = precision}>;
    const auto construction = Clock::now();
    Forecaster forecaster(tg::untrained<Model>());
    const double construction_ms = milliseconds_since(construction);
    std::vector<CandleWalk> walks;
    std::vector<tg::kronos::Candles> symbols;
    for (Index symbol = 0; symbol < bucket.batch; ++symbol) {
        walks.emplace_back(static_cast<unsigned>(symbol), bucket.context, bucket.horizon);
    }
    for (const CandleWalk& walk : walks) {
        symbols.push_back(walk.candles());
    }
    const Spread whole = spread_of(arguments.repeats, [&] { forecaster.forecast(symbols); });
    std::printf(
        "{\"implementation\": \"totograph-cuda\", \"workload\": \"%s\", \"precision\": \"%s\", \"median_ms\": %.4f, "
        "\"min_ms\": %.4f, \"max_ms\": %.4f, \"graph_nodes\": %zu, \"construction_ms\": %.1f, \"device_mib\": %.1f}\n",
        name, tg::cuda::name(precision), whole.median, whole.least, whole.most, forecaster.forecaster().graph_nodes(),
        construction_ms, static_cast<double>(Forecaster::Forecaster::device_bytes()) / 1048576);
    if (arguments.launch_costs) {
        print_all_launch_costs(name, tg::cuda::name(precision), forecaster.forecaster(), arguments.repeats);
    }
    std::fflush(stdout);
}

template <class Model, tg::Bucket bucket>
void measure(const char* name, const Arguments& arguments) {
    measure_precision<Model, bucket, Precision::bf16>(name, arguments);
    measure_precision<Model, bucket, Precision::tf32>(name, arguments);
}

// The sizes that the reference's benchmark calls one_symbol, paths, desk and sliding.
inline constexpr tg::Bucket one_symbol = tg::kronos::candle_bucket(1, 400, 32, 1);
inline constexpr tg::Bucket paths = tg::kronos::candle_bucket(1, 400, 32, 64);
inline constexpr tg::Bucket desk = tg::kronos::candle_bucket(32, 400, 32, 5);
inline constexpr tg::Bucket sliding = tg::kronos::candle_bucket(1, 512, 32, 5);

// One file each, so that they compile side by side.
void mini_one_symbol(const Arguments& arguments);
void small_desk(const Arguments& arguments);
void base_one_symbol(const Arguments& arguments);
void base_paths(const Arguments& arguments);
void base_desk(const Arguments& arguments);
void base_sliding(const Arguments& arguments);

}  // namespace bench::kronos
