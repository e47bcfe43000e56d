// SPDX-License-Identifier: Apache-2.0
//
// Times whole forecasts of the full-size Toto 1.0 with untrained weights, as a caller sees them.
//
//     bench_forecast [--workloads a,b] [--weights f32,bf16] [--threads N] [--repeats N] [--checkpoint FOLDER]
//
// One JSON object a line, with the fields of `bench/reference.py`, so that `bench/compare.py` can put them side by
// side.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <totograph/totograph.hpp>

#include "random_walks.hpp"

namespace {

namespace tg = totograph;
using tg::Index;
using Model = tg::toto1::open_base_1_0;
using Clock = std::chrono::steady_clock;

struct Arguments {
    std::vector<std::string> workloads;
    std::vector<std::string> weights{"f32", "bf16"};
    int threads = 2;
    int repeats = 5;
    std::string checkpoint;
};

/// Resident memory of this process, MiB.
double resident_mib() {
    std::ifstream file("/proc/self/statm");
    double pages = 0;
    file >> pages >> pages;
    return pages * 4096 / 1048576;
}

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <tg::Bucket bucket, tg::DType storage>
void measure(const char* name, const Arguments& arguments) {
    const auto wants = [](const std::vector<std::string>& list, std::string_view item) {
        return list.empty() || std::find(list.begin(), list.end(), item) != list.end();
    };
    if (!wants(arguments.workloads, name) || !wants(arguments.weights, tg::name(storage))) {
        return;
    }
    const auto construction = Clock::now();
    const auto weights = arguments.checkpoint.empty() ? tg::untrained<Model>() : tg::load<Model>(arguments.checkpoint);
    using Forecaster = tg::Forecaster<Model, bucket, tg::ForecasterOptions{.weights = storage}>;
    Forecaster forecaster(weights, {.threads = arguments.threads});
    const double construction_ms = milliseconds_since(construction);
    const auto values = bench::random_walks(bucket);
    tg::Series series;
    series.batch = bucket.batch;
    series.variates = bucket.variates;
    series.steps = bucket.context;
    series.values = values;
    std::vector<double> times;
    double first = 0;
    for (int repeat = -1; repeat < arguments.repeats; ++repeat) {
        const auto start = Clock::now();
        const tg::Forecast forecast = forecaster.forecast(series, {.seed = 7});
        const double time = milliseconds_since(start);
        if (repeat < 0) {
            first = time;
        } else {
            times.push_back(time);
        }
        if (forecast.horizon() != bucket.horizon) {
            std::abort();
        }
    }
    std::sort(times.begin(), times.end());
    using Storage = std::conditional_t<storage == tg::DType::f32, float, tg::BFloat16>;
    const double prepared =
        static_cast<double>(weights.weights.template prepared<tg::cpu::PreparedWeights<Storage>>()->bytes());
    constexpr double mib = 1048576;
    std::printf(
        "{\"implementation\": \"totograph\", \"workload\": \"%s\", \"weights\": \"%s\", \"threads\": %d, "
        "\"samples\": %lld, \"median_ms\": %.3f, \"min_ms\": %.3f, \"max_ms\": %.3f, \"first_ms\": %.3f, "
        "\"construction_ms\": %.1f, \"weights_mib\": %.1f, \"forecaster_mib\": %.1f, \"resident_mib\": %.1f}\n",
        name, std::string(tg::name(storage)).c_str(), arguments.threads, static_cast<long long>(bucket.samples),
        times[times.size() / 2], times.front(), times.back(), first, construction_ms, prepared / mib,
        static_cast<double>(forecaster.memory_bytes()) / mib, resident_mib());
    std::fflush(stdout);
}

template <tg::Bucket bucket>
void measure_both(const char* name, const Arguments& arguments) {
    measure<bucket, tg::DType::f32>(name, arguments);
    measure<bucket, tg::DType::bf16>(name, arguments);
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Times whole forecasts of the full-size Toto 1.0 with untrained weights.");
    app.add_option("--workloads", arguments.workloads, "one_patch, one_patch_samples, long_mean, readme, dashboard")
        ->delimiter(',');
    app.add_option("--weights", arguments.weights, "f32, bf16")->delimiter(',');
    app.add_option("--threads", arguments.threads, "threads of one forecast");
    app.add_option("--repeats", arguments.repeats, "timed forecasts of each workload");
    app.add_option("--checkpoint", arguments.checkpoint, "a checkpoint folder in place of untrained weights");
    CLI11_PARSE(app, argc, argv);

    // The sampled workloads take as many samples as the reference can bear on a CPU.
    measure_both<{.variates = 1, .context = 512, .horizon = 64, .samples = 0}>("one_patch", arguments);
#ifndef TOTOGRAPH_BENCH_FIRST_ALONE
    measure_both<{.variates = 1, .context = 4096, .horizon = 768, .samples = 0}>("long_mean", arguments);
    measure_both<{.variates = 1, .context = 512, .horizon = 64, .samples = 128}>("one_patch_samples", arguments);
    measure_both<{.variates = 7, .context = 4096, .horizon = 336, .samples = 16}>("readme", arguments);
    measure_both<{.variates = 8, .context = 2048, .horizon = 96, .samples = 16}>("dashboard", arguments);
#else
    std::fputs("bench_forecast: it has one_patch alone; for the others, build in Release.\n", stderr);
#endif
}
