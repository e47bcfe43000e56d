// SPDX-License-Identifier: Apache-2.0
//
// Times what counting costs a forecast: two reads of the clock, the check whether it is logged, the counters and the
// histogram, as `serve::ForecastService` does it, beside an empty loop.
//
//     bench_counters [--forecast-us X]
//
// It says which share of a forecast that is: of one that takes X microseconds, or of the bundled demo model's in its
// cheapest bucket, when the examples are built too.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/log.hpp>
#include <totograph/serve/metrics/metrics.hpp>

#ifdef TOTOGRAPH_BENCH_HAS_MODELS
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/synthetic_request.hpp>

#include "models/model.hpp"
#endif

namespace {

namespace tg = totograph;
using Clock = std::chrono::steady_clock;

constexpr int rounds = 301;
constexpr int forecasts_per_round = 10'000;

/// Of sorted values.
double quantile(const std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

/// Where a forecast would be: the compiler may not move or join anything across it.
void forecast_nothing() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Nanoseconds of one call of `action`.
template <class Action>
double time_of(const Action& action) {
    const auto start = Clock::now();
    for (int i = 0; i < forecasts_per_round; ++i) {
        action();
    }
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / forecasts_per_round;
}

#ifdef TOTOGRAPH_BENCH_HAS_MODELS
/// Microseconds of a forecast of the demo model in the cheapest bucket that it is compiled for, one step ahead.
double measure_forecast() {
    tg::serve::BackendRegistry registry;
    examples::add_backends(registry, examples::model_of(examples::demo_checkpoint()));
    const auto backend = registry.all().front();
    const tg::Bucket bucket = backend->buckets().front();
    const auto forecaster = backend->make(bucket, tg::serve::Mode::standard, {});
    const tg::serve::SyntheticRequest request(bucket);
    tg::ForecastOptions options = request.options();
    options.horizon = 1;
    tg::Series series = request.series();
    series.exogenous = 0;
    series.future_exogenous = {};
    std::vector<double> times;
    for (int repeat = 0; repeat < 31; ++repeat) {
        const auto start = Clock::now();
        (void)forecaster->forecast(series, options);
        times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    std::printf("forecast of the demo model, bucket %s, one step ahead: median %.0f us\n", to_string(bucket).c_str(),
                quantile(times, 0.5));
    return quantile(times, 0.5);
}
#else
double measure_forecast() {
    std::printf("The examples are not built: tell the time of a forecast with --forecast-us.\n");
    return 0;
}
#endif

}  // namespace

int main(int argc, char** argv) {
    double forecast_us = 0;
    if (argc == 3 && std::string_view(argv[1]) == "--forecast-us") {
        forecast_us = std::atof(argv[2]);
    }
    if (argc != 1 && forecast_us <= 0) {
        std::fprintf(stderr, "usage: bench_counters [--forecast-us X]\n");
        return 2;
    }

    tg::set_logs("");
    tg::serve::Metrics metrics;
    tg::serve::ForecastCounters& counters =
        metrics.counters("cpu", {.context = 512, .horizon = 64}, tg::serve::Mode::standard);
    std::vector<double> costs;
    for (int round = 0; round < rounds; ++round) {  // in turns, so that both see the same clock rate
        const double empty = time_of(forecast_nothing);
        const double counted = time_of([&] {
            tg::log(tg::LogTopic::sizes, [] { return std::string("a line that nobody wants"); });
            const auto start = Clock::now();
            forecast_nothing();
            counters.add_forecast(Clock::now() - start, 1);
        });
        costs.push_back(counted - empty);
    }
    std::sort(costs.begin(), costs.end());
    const double cost = quantile(costs, 0.5);
    std::printf("counting one forecast: median %.1f ns, 5%% to 95%% of %d rounds: %.1f to %.1f ns\n", cost, rounds,
                quantile(costs, 0.05), quantile(costs, 0.95));
    std::printf("1 %% of a forecast that takes %.1f us\n", cost / 10);
    const auto counted = metrics.snapshot().entries.front().forecasts;
    if (counted != static_cast<std::uint64_t>(rounds) * forecasts_per_round) {
        std::fprintf(stderr, "It counted %llu forecasts.\n", static_cast<unsigned long long>(counted));
        return 1;
    }
    if (argc == 1) {
        forecast_us = measure_forecast();
    }
    if (forecast_us > 0) {
        std::printf("share of a forecast of %.0f us: %.4f %%\n", forecast_us, cost / (forecast_us * 1000) * 100);
    }
}
