// SPDX-License-Identifier: Apache-2.0
// An executor of one's own, registered beside the library's: a service forecasts a few series with the demo model and
// large batches by repeating the past, which costs next to nothing. It ends with 1 when something is not as expected.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/service.hpp>

#include "models/model.hpp"
#include "own_backend/seasonal_backend.hpp"

namespace {

namespace serve = totograph::serve;
using totograph::Bucket;
using totograph::Index;

constexpr Index day = 24;
constexpr Index history = 16 * day;
constexpr Index horizon = 2 * day;
constexpr Bucket many{.batch = 64, .context = history, .horizon = horizon, .samples = 16};

/// So many series of days that differ: history and future, one after the other.
std::vector<float> days(Index batch, Index first_step, Index steps) {
    std::vector<float> values;
    for (Index series = 0; series < batch; ++series) {
        for (Index step = first_step; step < first_step + steps; ++step) {
            const double time = static_cast<double>(step) / day;
            const double wave = std::sin(2 * std::numbers::pi * (time + 0.1 * static_cast<double>(series)));
            const double week = 1 + 0.5 * std::sin(2 * std::numbers::pi * time / 7);
            values.push_back(static_cast<float>(10 + 4 * week * wave));
        }
    }
    return values;
}

/// Forecasts so many series; the mean absolute error of the medians.
double error_of(serve::ForecastService& service, Index batch) {
    const std::vector<float> values = days(batch, 0, history);
    const totograph::Series series{.batch = batch, .steps = history, .values = values};
    const std::vector<float> median = service.forecast(series, {.seed = 7, .horizon = horizon, .samples = 16}).median();
    const std::vector<float> actual = days(batch, history, horizon);
    double sum = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        sum += std::abs(static_cast<double>(median[i] - actual[i]));
    }
    return sum / static_cast<double>(actual.size());
}

bool run() {
    serve::BackendRegistry backends;
    examples::add_backends(backends, examples::model_of(examples::demo_checkpoint()));  // `cpu`
    backends.add(std::make_shared<examples::SeasonalBackend>(std::vector<Bucket>{many}, day));
    for (const auto& backend : backends.all()) {
        std::printf("%s: %s\n", std::string(backend->name()).c_str(), backend->describe(serve::Mode::standard).c_str());
    }

    // One series goes to the model; more go to the executor above.
    serve::ForecastService service(
        backends,
        {.backend = "seasonal", .mode = serve::Mode::standard, .routes = {{.max_batch = 1, .backend = "cpu"}}});
    const std::vector<Bucket> of_cpu = backends.get("cpu")->buckets();  // the cheapest first
    const Bucket small = *std::find_if(of_cpu.begin(), of_cpu.end(), [](const Bucket& one) { return one.samples > 0; });
    std::printf("\n%s\n", to_string(service.warm_up({.buckets = {small, many}})).c_str());

    const serve::ScopedStance stance(serve::Stance::fail_on_recapture);
    const double one = error_of(service, 1);
    const double sixty_four = error_of(service, 64);
    std::printf("mean absolute error: %.3f of one series, %.3f of 64\n", one, sixty_four);
    bool is_as_expected = service.is_ready() && one < 1 && sixty_four < 2;
    for (const serve::Snapshot::Entry& entry : service.snapshot().entries) {
        if (!entry.is_in_use()) {
            continue;  // a bucket that was left out of the warm-up: it is counted from 0
        }
        std::printf("%s, %s: %d forecasts, the slowest took %.3g ms\n", entry.backend.c_str(),
                    to_string(entry.bucket).c_str(), static_cast<int>(entry.forecasts), entry.latency().max * 1e3);
        is_as_expected = is_as_expected && entry.forecasts == 1 && entry.all_recaptures() == 0;
    }
    return is_as_expected;
}

}  // namespace

int main() {
    try {
        return run() ? 0 : 1;
    } catch (const totograph::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
