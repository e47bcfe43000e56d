// SPDX-License-Identifier: Apache-2.0
//
// Times whole calls of Kronos on the CPU with untrained weights: candles in, paths out.
//
//     bench_kronos [--workloads mini_one_symbol,small_one_symbol] [--weights f32,bf16] [--threads N] [--repeats N]
//
// One JSON object a line. Workloads are those of bench/cuda/kronos: 32 candles ahead of 400.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <totograph/models/kronos/candle_forecaster.hpp>
#include <totograph/totograph.hpp>

#include "candle_walk.hpp"

namespace {

namespace tg = totograph;
using tg::Index;
using Clock = std::chrono::steady_clock;

struct Arguments {
    std::vector<std::string> workloads;
    std::vector<std::string> weights{"f32", "bf16"};
    int threads = 2;
    int repeats = 5;

    [[nodiscard]] bool wants(std::string_view workload, tg::DType storage) const {
        const auto has = [](const std::vector<std::string>& list, std::string_view item) {
            return list.empty() || std::find(list.begin(), list.end(), item) != list.end();
        };
        return has(workloads, workload) && has(weights, tg::name(storage));
    }
};

template <class Model, tg::Bucket bucket, tg::DType storage>
void measure(const char* name, const Arguments& arguments) {
    if (!arguments.wants(name, storage)) {
        return;
    }
    using Forecaster = tg::kronos::CandleForecaster<Model, bucket, tg::ForecasterOptions{.weights = storage}>;
    Forecaster forecaster(tg::untrained<Model>(1), {.threads = arguments.threads});
    std::vector<bench::CandleWalk> walks;
    std::vector<tg::kronos::Candles> symbols;
    for (Index symbol = 0; symbol < bucket.batch; ++symbol) {
        walks.emplace_back(static_cast<unsigned>(symbol), bucket.context, bucket.horizon);
    }
    for (const bench::CandleWalk& walk : walks) {
        symbols.push_back(walk.candles());
    }
    std::vector<double> times;
    for (int repeat = -1; repeat < arguments.repeats; ++repeat) {
        const auto start = Clock::now();
        (void)forecaster.forecast(symbols);
        const double time = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        if (repeat >= 0) {
            times.push_back(time);
        }
    }
    std::sort(times.begin(), times.end());
    std::printf(
        "{\"implementation\": \"totograph\", \"workload\": \"%s\", \"weights\": \"%s\", \"threads\": %d, "
        "\"median_ms\": %.3f, \"min_ms\": %.3f, \"max_ms\": %.3f}\n",
        name, std::string(tg::name(storage)).c_str(), arguments.threads, times[times.size() / 2], times.front(),
        times.back());
    std::fflush(stdout);
}

template <class Model, tg::Bucket bucket>
void measure_both(const char* name, const Arguments& arguments) {
    measure<Model, bucket, tg::DType::f32>(name, arguments);
    measure<Model, bucket, tg::DType::bf16>(name, arguments);
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Times whole calls of Kronos on the CPU with untrained weights.");
    app.add_option("--workloads", arguments.workloads, "mini_one_symbol, small_one_symbol")->delimiter(',');
    app.add_option("--weights", arguments.weights, "f32, bf16")->delimiter(',');
    app.add_option("--threads", arguments.threads, "threads of one call");
    app.add_option("--repeats", arguments.repeats, "timed calls of each workload");
    CLI11_PARSE(app, argc, argv);

    constexpr tg::Bucket one_symbol = tg::kronos::candle_bucket(1, 400, 32, 1);
    measure_both<tg::kronos::mini, one_symbol>("mini_one_symbol", arguments);
    measure_both<tg::kronos::small, one_symbol>("small_one_symbol", arguments);
}
