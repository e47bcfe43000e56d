// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/service.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/forecast/cuda/device_forecast.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/out_of_memory.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/request_parts.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/background_build.hpp>
#include <totograph/serve/builder.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/result_pool.hpp>
#include <totograph/serve/routing.hpp>
#include <totograph/serve/served_backend.hpp>
#include <totograph/serve/service_options.hpp>
#include <totograph/serve/stance.hpp>
#include <totograph/serve/turn_lock.hpp>
#include <totograph/serve/warm_up_report.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE ForecastService::ForecastService(const BackendRegistry& registry, const ServiceOptions& options)
    : routing_(registry, options),
      metrics_(options.metrics ? options.metrics : std::make_shared<Metrics>()),
      builder_(options.resources, *metrics_),
      capture_after_(options.capture_after) {
    if (capture_after_ < 1) {
        throw Error(ErrorCode::invalid_argument, "ServiceOptions::capture_after is " + std::to_string(capture_after_) +
                                                     ", expected 1 or more: how many requests the stance "
                                                     "eager_then_capture serves in mode eager.");
    }
    set_mode(options.mode);
    for (const detail::ServedBackend& served : routing_.backends) {
        for (const Bucket& bucket : served.buckets) {
            if (std::find(buckets_.begin(), buckets_.end(), bucket) == buckets_.end()) {
                buckets_.push_back(bucket);
            }
        }
    }
    samples_by_default_ = samples_by_default(buckets_);
}

TOTOGRAPH_INLINE ForecastService::~ForecastService() {
    background_.reset();
    for (detail::ServedBackend& served : routing_.backends) {
        for (detail::Place& place : served.places) {
            for (detail::Slot& slot : place.slots) {
                slot.free();
            }
        }
    }
}

TOTOGRAPH_INLINE WarmUpReport ForecastService::warm_up(const WarmUpOptions& options) {
    const std::scoped_lock turn(turn_);
    if (options.forecasts < 0) {
        throw Error(ErrorCode::invalid_argument, "A warm-up cannot make " + std::to_string(options.forecasts) +
                                                     " forecasts of each size. Pass 0 or more.");
    }
    for (const Bucket& bucket : options.buckets) {
        require_bucket(bucket);
    }
    for (const detail::ResolvedRoute& route : routing_.routes) {
        if (options.include_eager) {
            detail::require_mode(*routing_.backends[route.backend].backend, Mode::eager);
        }
    }
    take_what_was_built(true);
    const auto start = Clock::now();
    WarmUpReport report;
    is_warm_ = false;
    update_ready();
    for (const detail::ResolvedRoute& route : routing_.routes) {
        detail::ServedBackend& served = routing_.backends[route.backend];
        for (std::size_t i = 0; i < served.buckets.size(); ++i) {
            const auto& chosen = options.buckets;
            const bool is_chosen =
                chosen.empty() || std::find(chosen.begin(), chosen.end(), served.buckets[i]) != chosen.end();
            if (!is_chosen || !route.reaches(served.buckets[i])) {
                continue;
            }
            builder_.warm_up(served, i, route.mode, options.forecasts, report);
            served.places[i].set_built();  // also when the next lines throw
            if (options.include_eager) {
                builder_.warm_up(served, i, Mode::eager, options.forecasts, report);
            }
            served.places[i].is_warm = true;
        }
    }
    results_.make_room(largest_result());
    is_warm_ = true;
    was_warm_ = true;
    update_ready();
    report.seconds = detail::seconds_since(start);
    log(LogTopic::capture, [&] { return "warmed up:\n" + to_string(report); });
    return report;
}

TOTOGRAPH_INLINE detail::Slot& ForecastService::slot_for(const Series& series, const ForecastOptions& options,
                                                         ValuesOn values) {
    const detail::ResolvedRoute& route = routing_.of(series.batch);
    detail::ServedBackend& served = routing_.backends[route.backend];
    const std::size_t which = bucket_for(served, series, options);
    log(LogTopic::sizes, [&] {
        return "a request of " + std::to_string(series.batch) + " x " + std::to_string(series.variates) + " x " +
               std::to_string(series.steps) + " goes to " + detail::describe(served, which, route.mode);
    });
    detail::Slot* slot = &served.places[which].at(route.mode);
    if (slot->forecaster == nullptr || current_stance() == Stance::force_eager) [[unlikely]] {
        slot = &find_or_build(route.backend, which, route.mode, series, options, values);
    }
    return *slot;
}

TOTOGRAPH_INLINE Forecast ForecastService::forecast(const Series& series, const ForecastOptions& options) {
    const std::scoped_lock turn(turn_);
    detail::Slot* const slot = &slot_for(series, options);
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
    return put_on(slot_for(series, options), stream, series, options);
}

TOTOGRAPH_INLINE cuda::DeviceForecast ForecastService::forecast_on(void* stream, const cuda::DeviceSeries& series,
                                                                   const ForecastOptions& options) {
    const std::scoped_lock turn(turn_);
    return put_on(slot_for(series.series, options, ValuesOn::device), stream, series, options);
}

TOTOGRAPH_INLINE void ForecastService::release(const Bucket& bucket) {
    const std::scoped_lock turn(turn_);
    require_bucket(bucket);
    take_what_was_built(true);
    for (detail::ServedBackend& served : routing_.backends) {
        for (std::size_t i = 0; i < served.buckets.size(); ++i) {
            if (served.buckets[i] != bucket) {
                continue;
            }
            detail::Place& place = served.places[i];
            place.is_warm = false;
            place.was_released = place.was_released || place.was_built;
            place.was_built = false;
            for (const Mode mode : all_modes) {
                place.at(mode).served_eagerly = 0;
                if (place.at(mode).free()) {
                    log(LogTopic::sizes, [&] { return "released " + detail::describe(served, i, mode); });
                }
            }
        }
    }
    update_ready();
}

TOTOGRAPH_INLINE void ForecastService::set_mode(Mode mode) {
    const std::scoped_lock turn(turn_);
    std::vector<detail::ResolvedRoute> routes = routing_.routes_in(mode);
    // Counters are there, at 0, before a request is: a monitor that first sees one at 1 has not seen it grow.
    for (const detail::ResolvedRoute& route : routes) {
        detail::ServedBackend& served = routing_.backends[route.backend];
        for (std::size_t i = 0; i < served.buckets.size(); ++i) {
            if (route.reaches(served.buckets[i])) {
                (void)builder_.counters_of(served, i, route.mode);
            }
        }
    }
    routing_.routes = std::move(routes);
    update_ready();
}

TOTOGRAPH_INLINE std::size_t ForecastService::memory_bytes() const {
    const std::scoped_lock turn(turn_);
    std::size_t bytes = 0;
    for (const detail::ServedBackend& served : routing_.backends) {
        for (const detail::Place& place : served.places) {
            for (const detail::Slot& slot : place.slots) {
                bytes += slot.forecaster ? slot.forecaster->memory_bytes() : 0;
            }
        }
    }
    return bytes;
}

TOTOGRAPH_INLINE std::optional<Bucket> ForecastService::bucket_of(const Bucket& sizes) const {
    const std::scoped_lock turn(turn_);
    const detail::ServedBackend& served = routing_.backends[routing_.of(sizes.batch).backend];
    const auto found = std::find_if(served.buckets.begin(), served.buckets.end(),
                                    [&](const Bucket& each) { return each.holds(sizes); });
    return found == served.buckets.end() ? std::optional<Bucket>() : *found;
}

TOTOGRAPH_INLINE Explanation ForecastService::explain(const Bucket& bucket, std::optional<Mode> mode,
                                                      std::string_view backend) const {
    const std::scoped_lock turn(turn_);
    require_bucket(bucket);
    const detail::ResolvedRoute& route = routing_.to(bucket, backend);
    const Backend& served = *routing_.backends[route.backend].backend;
    detail::require_mode(served, mode.value_or(route.mode));
    return served.explain(bucket, mode.value_or(route.mode));
}

TOTOGRAPH_INLINE void ForecastService::update_ready() noexcept {
    bool is_ready = is_warm_;
    for (const detail::ResolvedRoute& route : routing_.routes) {
        const detail::ServedBackend& served = routing_.backends[route.backend];
        for (std::size_t i = 0; i < served.places.size(); ++i) {
            const detail::Place& place = served.places[i];
            const bool is_needed = place.is_warm && route.reaches(served.buckets[i]);
            is_ready = is_ready && (!is_needed || place.at(route.mode).forecaster);
        }
    }
    is_ready_.store(is_ready, std::memory_order_relaxed);
}

TOTOGRAPH_INLINE std::size_t ForecastService::largest_result() const {
    std::size_t largest = 0;
    for (const detail::ServedBackend& served : routing_.backends) {
        for (const Bucket& bucket : served.buckets) {
            largest = std::max(largest, served.backend->plan(bucket).result_size());
        }
    }
    return largest;
}

TOTOGRAPH_INLINE void ForecastService::require_bucket(const Bucket& bucket) const {
    if (std::find(buckets_.begin(), buckets_.end(), bucket) != buckets_.end()) {
        return;
    }
    std::string list;
    for (const Bucket& one : buckets_) {
        list += (list.empty() ? "" : "; ") + to_string(one);
    }
    throw Error(ErrorCode::no_bucket, "This service has no compiled size " + to_string(bucket) + "; it has: " + list +
                                          ". Name one of these.");
}

TOTOGRAPH_INLINE std::size_t ForecastService::bucket_for(const detail::ServedBackend& served, const Series& series,
                                                         const ForecastOptions& options) {
    try {
        return choose_bucket(served.buckets, series, options, samples_by_default_, served.name);
    } catch (...) {
        metrics_->add_request_without_bucket();
        throw;
    }
}

TOTOGRAPH_INLINE void ForecastService::take_what_was_built(bool waits) {
    if (!background_ || (!waits && !background_->is_done())) {
        return;
    }
    const std::unique_ptr<detail::BackgroundBuild> ended = std::move(background_);
    detail::ServedBackend& served = routing_.backends[ended->backend()];
    try {
        detail::Built built = ended->take();
        if (!served.places[ended->which()].at(ended->mode()).forecaster) {
            builder_.install(served, ended->which(), ended->mode(), std::move(built));
            served.places[ended->which()].set_built();
            update_ready();
        }
    } catch (const std::exception& error) {
        // Its requests go on in mode eager: they have not failed.
        log(LogTopic::capture, [&] {
            return "building " + detail::describe(served, ended->which(), ended->mode()) +
                   " in the background failed: " + error.what();
        });
    } catch (...) {
        log(LogTopic::capture, [&] {
            return "building " + detail::describe(served, ended->which(), ended->mode()) +
                   " in the background failed with what is no std::exception";
        });
    }
}

TOTOGRAPH_INLINE void ForecastService::capture_in_background(std::size_t backend, std::size_t which, Mode mode) {
    detail::ServedBackend& served = routing_.backends[backend];
    int& requests = served.places[which].at(mode).served_eagerly;
    if (requests > capture_after_) {
        return;  // it has begun: what failed is not tried again before a release
    }
    requests = std::min(requests + 1, capture_after_);
    if (requests == capture_after_ && background_ == nullptr) {
        ++requests;
        try {
            background_ =
                std::make_unique<detail::BackgroundBuild>(backend, which, mode, builder_.apart(served, which, mode));
        } catch (const std::system_error& error) {  // no thread is left: requests go on in mode eager
            log(LogTopic::capture, [&] {
                return "cannot build " + detail::describe(served, which, mode) + " in the background: " + error.what();
            });
            return;
        }
        log(LogTopic::capture,
            [&] { return "builds " + detail::describe(served, which, mode) + " in the background"; });
    }
}

TOTOGRAPH_INLINE detail::Slot& ForecastService::find_or_build(std::size_t backend, std::size_t which, Mode mode,
                                                              const Series& series, const ForecastOptions& options,
                                                              ValuesOn values) {
    detail::ServedBackend& served = routing_.backends[backend];
    ForecastCounters& counters = builder_.counters_of(served, which, mode);
    try {
        // Nothing is built for a request that would be refused.
        (void)check_for(series, options, served.backend->plan(served.buckets[which]), values);
        const Stance stance = current_stance();
        Mode used = stance == Stance::force_eager ? Mode::eager : mode;
        take_what_was_built(false);
        const bool is_there = served.places[which].at(used).forecaster != nullptr;
        // Mode eager captures nothing: it is built when it is needed, whatever the stance, as for a fallback.
        if (was_warm_ && used != Mode::eager && !is_there) {
            recapture(served, which, mode, stance, counters);
            used = stance == Stance::eager_on_recapture ? Mode::eager : mode;
        }
        if (stance == Stance::eager_then_capture && used != Mode::eager && !is_there) {
            capture_in_background(backend, which, mode);
            used = Mode::eager;
        }
        detail::Slot& chosen = served.places[which].at(used);
        if (!chosen.forecaster) {
            (void)builder_.build(served, which, used);
            update_ready();
            if (used == mode) {
                served.places[which].set_built();
            }
        }
        if (used != mode) {
            counters.add_eager_fallback();
        }
        return chosen;
    } catch (...) {
        counters.add_failure();
        throw;
    }
}

TOTOGRAPH_INLINE void ForecastService::recapture(const detail::ServedBackend& served, std::size_t which, Mode mode,
                                                 Stance stance, ForecastCounters& counters) {
    const RecaptureReason reason = served.places[which].why_missing();
    counters.add_recapture(reason);
    const auto text = [&] {
        return "needs " + detail::describe(served, which, mode) + ", which is not built (" + std::string(name(reason)) +
               ")";
    };
    log(LogTopic::capture,
        [&] { return "recapture: a request " + text() + "; the stance is " + std::string(name(stance)); });
    if (stance == Stance::fail_on_recapture) {
        throw Error(ErrorCode::recapture, "forecast: the request " + text() +
                                              ", and the stance fail_on_recapture forbids to build it now. Call "
                                              "warm_up() first, or take another stance.");
    }
}

}  // namespace totograph::serve
