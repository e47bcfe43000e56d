// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/service.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include <totograph/core/inline.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cuda/device_forecast.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/out_of_memory.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/result_pool.hpp>
#include <totograph/serve/routing.hpp>
#include <totograph/serve/served_backend.hpp>
#include <totograph/serve/served_slots.hpp>
#include <totograph/serve/service_options.hpp>
#include <totograph/serve/turn_lock.hpp>
#include <totograph/serve/warm_up_report.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE ForecastService::ForecastService(const BackendRegistry& registry, const ServiceOptions& options)
    : metrics_(options.metrics ? options.metrics : std::make_shared<Metrics>()), slots_(registry, options, *metrics_) {}

TOTOGRAPH_INLINE WarmUpReport ForecastService::warm_up(const WarmUpOptions& options) {
    const std::scoped_lock turn(turn_);
    return slots_.warm_up(options, [this] { results_.make_room(slots_.largest_result()); });
}

TOTOGRAPH_INLINE Forecast ForecastService::forecast(const Series& series, const ForecastOptions& options) {
    const std::scoped_lock turn(turn_);
    detail::Slot* const slot = &slots_.slot_for(series, options);
    const auto start = Clock::now();
    try {
        const Forecast result = slot->forecaster->forecast(series, options);
        const auto latency = Clock::now() - start;
        Forecast kept = forecast_detail::with_memory(  // before it is counted
            "the copy of a result", result.values().size_bytes(), [&] { return result.keep_in(results_.take()); });
        slot->counters->add_forecast(latency, slot->forecaster->replays(), kept.is_finite());
        return kept;
    } catch (...) {
        slot->counters->add_failure();
        throw;
    }
}

template <class Given>
cuda::DeviceForecast ForecastService::put_on(detail::Slot& slot, void* stream, const Given& series,
                                             const ForecastOptions& options) {
    const auto start = Clock::now();
    try {
        const cuda::DeviceForecast result = slot.forecaster->forecast_on(stream, series, options);
        slot.counters->add_forecast(Clock::now() - start, slot.forecaster->replays(), true);
        return result;
    } catch (...) {
        slot.counters->add_failure();
        throw;
    }
}

TOTOGRAPH_INLINE cuda::DeviceForecast ForecastService::forecast_on(void* stream, const Series& series,
                                                                   const ForecastOptions& options) {
    const std::scoped_lock turn(turn_);
    return put_on(slots_.slot_for(series, options), stream, series, options);
}

TOTOGRAPH_INLINE cuda::DeviceForecast ForecastService::forecast_on(void* stream, const cuda::DeviceSeries& series,
                                                                   const ForecastOptions& options) {
    const std::scoped_lock turn(turn_);
    return put_on(slots_.slot_for(series.series, options, ValuesOn::device), stream, series, options);
}

TOTOGRAPH_INLINE void ForecastService::release(const Bucket& bucket) {
    const std::scoped_lock turn(turn_);
    slots_.release(bucket);
}

TOTOGRAPH_INLINE void ForecastService::set_mode(Mode mode) {
    const std::scoped_lock turn(turn_);
    slots_.set_mode(mode);
}

TOTOGRAPH_INLINE std::size_t ForecastService::memory_bytes() const {
    const std::scoped_lock turn(turn_);
    return slots_.memory_bytes();
}

TOTOGRAPH_INLINE std::optional<Bucket> ForecastService::bucket_of(const Bucket& sizes) const {
    const std::scoped_lock turn(turn_);
    return slots_.bucket_of(sizes);
}

TOTOGRAPH_INLINE Explanation ForecastService::explain(const Bucket& bucket, std::optional<Mode> mode,
                                                      std::string_view backend) const {
    const std::scoped_lock turn(turn_);
    slots_.require_bucket(bucket);
    const detail::Routing& routing = slots_.routing();
    const detail::ResolvedRoute& route = routing.to(bucket, backend);
    const Backend& served = *routing.backends[route.backend].backend;
    detail::require_mode(served, mode.value_or(route.mode));
    return served.explain(bucket, mode.value_or(route.mode));
}

}  // namespace totograph::serve
