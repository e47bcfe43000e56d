// SPDX-License-Identifier: Apache-2.0
// The doors of a package that need no Python, for doors.py: a shared library that has the package's models compiled in
// as well, so that all doors can be timed in turns in one process.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/package/package.hpp>
#include <totograph/package/packaged_model.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/service.hpp>

#include "doors.h"

namespace tg = totograph;

namespace {

tg::serve::BackendRegistry backends_of(bool is_package, const char* package, const char* checkpoint) {
    tg::serve::BackendRegistry backends;
    if (is_package) {
        tg::Package(package).add_backend(backends, checkpoint);
    } else {
        tg::package::packaged_models().front()->add_backend(backends, checkpoint);
    }
    return backends;
}

}  // namespace

/// Of `doors.h`: a service, and where its last result stays.
struct door {
    tg::serve::ForecastService service;
    std::vector<float> result{};
};

door* door_open(const char* package, const char* checkpoint, std::int32_t threads) {
    try {
        const bool is_package = package != nullptr;
        return new door{tg::serve::ForecastService(backends_of(is_package, package, checkpoint),
                                                   {.resources = {.threads = threads}})};
    } catch (const std::exception& error) {
        std::fprintf(stderr, "doors: %s\n", error.what());
        return nullptr;
    }
}

int door_time(door* opened, const request_of_doors* request, double* microseconds) {
    try {
        const tg::Series series{
            .variates = request->variates,
            .steps = request->steps,
            .values = {request->values, static_cast<std::size_t>(request->variates * request->steps)}};
        const tg::ForecastOptions options{.horizon = request->horizon, .samples = request->samples};
        const double levels[]{0.5};
        for (std::int64_t i = 0; i < request->count; ++i) {
            const double begin = microseconds_now();
            const tg::Forecast made = opened->service.forecast(series, options);
            if (request->samples == 0) {
                opened->result = made.mean();
            } else {
                opened->result.resize(static_cast<std::size_t>(request->variates * request->horizon));
                made.quantiles(levels, opened->result);
            }
            microseconds[i] = microseconds_now() - begin;
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "doors: %s\n", error.what());
        return 1;
    }
}

const float* door_result(const door* opened) {
    return opened->result.data();
}
