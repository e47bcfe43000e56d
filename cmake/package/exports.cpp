// SPDX-License-Identifier: Apache-2.0
// The functions of a package: those of <totograph/c/totograph.h>, and no others.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/c/totograph.h>
#include <totograph/core/error.hpp>
#include <totograph/forecast/cuda/device_forecast.hpp>
#include <totograph/package/interface/device_series.hpp>
#include <totograph/package/interface/explanation_json.hpp>
#include <totograph/package/interface/handles.hpp>
#include <totograph/package/interface/scatter.hpp>
#include <totograph/package/interface/series.hpp>
#include <totograph/package/interface/status.hpp>
#include <totograph/package/interface/structures.hpp>
#include <totograph/package/packaged_model.hpp>
#include <totograph/serve/metrics/snapshot_json.hpp>
#include <totograph/serve/metrics/snapshot_prometheus.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/version.hpp>

namespace tg = totograph;
using tg::package::guarded;
using tg::package::read_structure;
using tg::package::require;
using tg::package::write_structure;

namespace {

/// A copy that `totograph_text_free` frees.
char* text_for_caller(std::string_view text) {
    auto copy = std::make_unique<char[]>(text.size() + 1);
    std::memcpy(copy.get(), text.data(), text.size());
    return copy.release();
}

/// Writes one number a point.
template <class Compute>
void write_points(const totograph_forecast* from, float* to, const std::int64_t* strides, const Compute& compute) {
    const tg::Forecast& forecast = require(from, "The forecast")->forecast;
    tg::package::write_strided(require(to, "The memory for the result"), tg::package::points_of(forecast), strides,
                               [&](std::span<float> row_major) {
                                   const std::vector<float> values = compute(forecast);
                                   std::copy(values.begin(), values.end(), row_major.begin());
                               });
}

}  // namespace

uint32_t totograph_abi_version(void) noexcept {
    return TOTOGRAPH_ABI_VERSION;
}

const char* totograph_version(void) noexcept {
    return tg::version.data();  // a literal
}

totograph_status totograph_model_open(const char* checkpoint, totograph_model** model,
                                      totograph_error* error) noexcept {
    return guarded(error, [&] {
        require(model, "The place for the model");
        const std::string_view path = require(checkpoint, "The checkpoint's path");
        const tg::package::PackagedModel& compiled = tg::package::model_for(path);
        auto opened = std::unique_ptr<totograph_model>(new totograph_model{compiled, {}});
        compiled.add_backend(opened->backends, path);
        *model = opened.release();
    });
}

void totograph_model_close(totograph_model* model) noexcept {
    delete model;
}

totograph_status totograph_model_describe(const totograph_model* model, totograph_model_facts* facts,
                                          totograph_error* error) noexcept {
    return guarded(error, [&] {
        const tg::package::PackagedModel& compiled = require(model, "The model")->compiled;
        const totograph_model_facts all{.size = sizeof all,
                                        .name = compiled.name,
                                        .buckets = compiled.buckets.size(),
                                        .patch_size = compiled.plan.sizes.patch_size,
                                        .levels = compiled.plan.levels.data(),
                                        .level_count = compiled.plan.levels.size(),
                                        .takes_future_gaps = compiled.plan.takes_future_gaps ? 1 : 0,
                                        .takes_groups_by_step = compiled.plan.takes_groups_by_step ? 1 : 0};
        write_structure(facts, all, "totograph_model_facts");
    });
}

totograph_status totograph_model_bucket(const totograph_model* model, uint64_t which, totograph_bucket* bucket,
                                        totograph_error* error) noexcept {
    return guarded(error, [&] {
        const std::span<const tg::Bucket> buckets = require(model, "The model")->compiled.buckets;
        if (which >= buckets.size()) {
            throw tg::Error(tg::ErrorCode::invalid_argument, "The package has " + std::to_string(buckets.size()) +
                                                                 " compiled sizes of the model, from 0 on; " +
                                                                 std::to_string(which) + " was asked for.");
        }
        write_structure(bucket, tg::package::c_bucket(buckets[which]), "totograph_bucket");
    });
}

totograph_status totograph_model_explain(const totograph_model* model, const totograph_bucket* bucket, const char* mode,
                                         char** text, totograph_error* error) noexcept {
    return guarded(error, [&] {
        require(text, "The place for the text");
        const auto sizes = tg::package::bucket_of(read_structure(bucket, "totograph_bucket"));
        const auto& backend = *require(model, "The model")->backends.all().front();
        *text = text_for_caller(
            tg::package::json_text(backend.explain(sizes, tg::serve::mode_of(require(mode, "The mode")))));
    });
}

totograph_status totograph_service_create(const totograph_model* model, const totograph_service_options* options,
                                          totograph_service** service, totograph_error* error) noexcept {
    return guarded(error, [&] {
        require(service, "The place for the service");
        const auto given =
            options == nullptr ? totograph_service_options{} : read_structure(options, "totograph_service_options");
        *service = tg::package::make_service(*require(model, "The model"), given).release();
    });
}

void totograph_service_destroy(totograph_service* service) noexcept {
    delete service;
}

totograph_status totograph_service_warm_up(totograph_service* service, int32_t forecasts,
                                           totograph_error* error) noexcept {
    return guarded(error, [&] { require(service, "The service")->service.warm_up({.forecasts = forecasts}); });
}

int32_t totograph_service_is_ready(const totograph_service* service) noexcept {
    return service != nullptr && service->service.is_ready() ? 1 : 0;
}

uint64_t totograph_service_memory(const totograph_service* service) noexcept {
    uint64_t bytes = 0;
    (void)guarded(nullptr, [&] { bytes = require(service, "The service")->service.memory_bytes(); });
    return bytes;
}

totograph_status totograph_service_metrics(const totograph_service* service, const char* format, char** text,
                                           totograph_error* error) noexcept {
    return guarded(error, [&] {
        require(text, "The place for the text");
        const std::string_view name = require(format, "The format");
        if (name != "json" && name != "prometheus") {
            throw tg::Error(tg::ErrorCode::invalid_argument,
                            "Metrics are written as 'json' or as 'prometheus'; another format was asked for.");
        }
        const tg::serve::Snapshot now = require(service, "The service")->service.snapshot();
        *text = text_for_caller(name == "json" ? tg::serve::json_text(now) : tg::serve::prometheus_text(now));
    });
}

void totograph_text_free(char* text) noexcept {
    delete[] text;
}

totograph_status totograph_service_forecast(totograph_service* service, const totograph_series* series,
                                            const totograph_request* request, totograph_forecast** forecast,
                                            totograph_error* error) noexcept {
    return guarded(error, [&] {
        require(forecast, "The place for the forecast");
        const totograph_series described = read_structure(series, "totograph_series");
        const auto asked = request == nullptr ? totograph_request{} : read_structure(request, "totograph_request");
        const tg::package::SeriesOfCaller view(described);
        *forecast = new totograph_forecast{
            require(service, "The service")->service.forecast(view.series(), tg::package::options_of(asked)),
            described.first_series};
    });
}

totograph_status totograph_service_forecast_on(totograph_service* service, void* stream, const totograph_series* series,
                                               const totograph_request* request, uint32_t flags,
                                               totograph_device_forecast* result, totograph_error* error) noexcept {
    return guarded(error, [&] {
        require(result, "The place for the forecast");
        totograph_service& serving = *require(service, "The service");
        const totograph_series described = read_structure(series, "totograph_series");
        const auto asked = request == nullptr ? totograph_request{} : read_structure(request, "totograph_request");
        const bool is_on_device = tg::package::is_on_device(flags);
        const tg::package::SeriesOfCaller view(described, is_on_device ? tg::ValuesOn::device : tg::ValuesOn::host);
        const tg::ForecastOptions options = tg::package::options_of(asked);
        const tg::cuda::DeviceForecast made =
            is_on_device ? serving.service.forecast_on(stream, tg::package::device_series(described, view), options)
                         : serving.service.forecast_on(stream, view.series(), options);
        const totograph_device_forecast all{.size = sizeof all,
                                            .batch = made.request.batch,
                                            .variates = made.request.variates,
                                            .horizon = made.request.horizon,
                                            .value_count = made.values,
                                            .values = made.data,
                                            .not_finite = made.not_finite};
        write_structure(result, all, "totograph_device_forecast");
    });
}

totograph_status totograph_service_wait_stream(totograph_service* service, void* stream, void* other,
                                               totograph_error* error) noexcept {
    return guarded(error, [&] {
        const totograph_service& serving = *require(service, "The service");
        serving.backend->wait_stream(serving.device, stream, other);
    });
}

void totograph_forecast_release(totograph_forecast* forecast) noexcept {
    delete forecast;
}

totograph_status totograph_forecast_describe(const totograph_forecast* forecast, totograph_forecast_facts* facts,
                                             totograph_error* error) noexcept {
    return guarded(error, [&] {
        const tg::Forecast& made = require(forecast, "The forecast")->forecast;
        const totograph_forecast_facts all{.size = sizeof all,
                                           .batch = made.batch(),
                                           .variates = made.variates(),
                                           .horizon = made.horizon(),
                                           .samples = made.sample_count(),
                                           .context = made.context(),
                                           .not_finite = made.not_finite(),
                                           .values = made.values().data(),
                                           .levels = made.levels().data(),
                                           .level_count = made.levels().size()};
        write_structure(facts, all, "totograph_forecast_facts");
    });
}

totograph_status totograph_forecast_quantiles(const totograph_forecast* forecast, const double* levels,
                                              uint64_t level_count, float* to, const int64_t strides[4],
                                              totograph_error* error) noexcept {
    return guarded(error, [&] {
        const tg::Forecast& made = require(forecast, "The forecast")->forecast;
        const auto [batch, variates, horizon] = tg::package::points_of(made);
        const std::array<tg::Index, 4> extents{static_cast<tg::Index>(level_count), batch, variates, horizon};
        const std::span<const double> wanted(require(levels, "The list of levels"), level_count);
        tg::package::write_strided(require(to, "The memory for the result"), extents, strides,
                                   [&](std::span<float> row_major) { made.quantiles(wanted, row_major); });
    });
}

totograph_status totograph_forecast_mean(const totograph_forecast* forecast, float* to, const int64_t strides[3],
                                         totograph_error* error) noexcept {
    return guarded(error,
                   [&] { write_points(forecast, to, strides, [](const tg::Forecast& made) { return made.mean(); }); });
}

totograph_status totograph_forecast_stddev(const totograph_forecast* forecast, float* to, const int64_t strides[3],
                                           totograph_error* error) noexcept {
    return guarded(
        error, [&] { write_points(forecast, to, strides, [](const tg::Forecast& made) { return made.stddev(); }); });
}

totograph_status totograph_forecast_samples(const totograph_forecast* forecast, uint64_t count, uint64_t seed,
                                            float* to, const int64_t strides[4], totograph_error* error) noexcept {
    return guarded(error, [&] {
        const tg::Forecast& made = require(forecast, "The forecast")->forecast;
        const auto [batch, variates, horizon] = tg::package::points_of(made);
        const std::array<tg::Index, 4> extents{batch, variates, horizon, static_cast<tg::Index>(count)};
        tg::package::write_strided(
            require(to, "The memory for the result"), extents, strides,
            [&](std::span<float> row_major) { tg::package::write_samples(*forecast, count, seed, row_major); });
    });
}
