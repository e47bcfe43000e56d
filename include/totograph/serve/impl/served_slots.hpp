// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/served_slots.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/request_parts.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/builder.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/routing.hpp>
#include <totograph/serve/served_backend.hpp>
#include <totograph/serve/service_options.hpp>
#include <totograph/serve/stance.hpp>
#include <totograph/serve/warm_up_report.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE ServedSlots::ServedSlots(const BackendRegistry& registry, const ServiceOptions& options,
                                          Metrics& metrics)
    : routing_(registry, options),
      metrics_(metrics),
      builder_(options.resources, metrics),
      captures_(routing_.backends, builder_, options.capture_after) {
    set_mode(options.mode);
    for (const ServedBackend& served : routing_.backends) {
        for (const Bucket& bucket : served.buckets) {
            if (std::find(buckets_.begin(), buckets_.end(), bucket) == buckets_.end()) {
                buckets_.push_back(bucket);
            }
        }
    }
    samples_by_default_ = samples_by_default(buckets_);
}

TOTOGRAPH_INLINE ServedSlots::~ServedSlots() {
    captures_.end();
    for (ServedBackend& served : routing_.backends) {
        for (Place& place : served.places) {
            for (Slot& slot : place.of_modes) {
                slot.free();
            }
        }
    }
}

TOTOGRAPH_INLINE WarmUpReport ServedSlots::warm_up(const WarmUpOptions& options, const std::function<void()>& finish) {
    if (options.forecasts < 0) {
        throw Error(ErrorCode::invalid_argument, "A warm-up cannot make " + std::to_string(options.forecasts) +
                                                     " forecasts of each size. Pass 0 or more.");
    }
    for (const Bucket& bucket : options.buckets) {
        require_bucket(bucket);
    }
    for (const ResolvedRoute& route : routing_.routes) {
        if (options.include_eager) {
            require_mode(*routing_.backends[route.backend].backend, Mode::eager);
        }
    }
    (void)captures_.take(true);
    const auto start = std::chrono::steady_clock::now();
    WarmUpReport report;
    is_warm_ = false;
    update_ready();
    for (const ResolvedRoute& route : routing_.routes) {
        ServedBackend& served = routing_.backends[route.backend];
        for (std::size_t i = 0; i < served.buckets.size(); ++i) {
            const auto& chosen = options.buckets;
            const bool is_chosen =
                chosen.empty() || std::find(chosen.begin(), chosen.end(), served.buckets[i]) != chosen.end();
            if (!is_chosen || !route.reaches(served.buckets, served.buckets[i])) {
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
    finish();
    is_warm_ = true;
    was_warm_ = true;
    update_ready();
    report.seconds = seconds_since(start);
    log(LogTopic::capture, [&] { return "warmed up:\n" + to_string(report); });
    return report;
}

TOTOGRAPH_INLINE Slot& ServedSlots::slot_for(const Series& series, const ForecastOptions& options, ValuesOn values) {
    const ResolvedRoute& route = routing_.of(series.batch);
    ServedBackend& served = routing_.backends[route.backend];
    const std::size_t which = bucket_for(served, series, options);
    log(LogTopic::sizes, [&] {
        return "a request of " + std::to_string(series.batch) + " x " + std::to_string(series.variates) + " x " +
               std::to_string(series.steps) + " goes to " + describe(served, which, route.mode);
    });
    Slot* slot = &served.places[which].at(route.mode);
    if (slot->forecaster == nullptr || current_stance() == Stance::force_eager) [[unlikely]] {
        slot = &find_or_build(route.backend, which, route.mode, series, options, values);
    }
    return *slot;
}

TOTOGRAPH_INLINE void ServedSlots::release(const Bucket& bucket) {
    require_bucket(bucket);
    (void)captures_.take(true);
    for (ServedBackend& served : routing_.backends) {
        for (std::size_t i = 0; i < served.buckets.size(); ++i) {
            if (served.buckets[i] != bucket) {
                continue;
            }
            Place& place = served.places[i];
            place.is_warm = false;
            place.was_released = place.was_released || place.was_built;
            place.was_built = false;
            for (const Mode mode : all_modes) {
                place.at(mode).served_eagerly = 0;
                if (place.at(mode).free()) {
                    log(LogTopic::sizes, [&] { return "released " + describe(served, i, mode); });
                }
            }
        }
    }
    update_ready();
}

TOTOGRAPH_INLINE void ServedSlots::set_mode(Mode mode) {
    std::vector<ResolvedRoute> routes = routing_.routes_in(mode);
    // Counters are there, at 0, before a request is: a monitor that first sees one at 1 has not seen it grow.
    for (const ResolvedRoute& route : routes) {
        ServedBackend& served = routing_.backends[route.backend];
        for (std::size_t i = 0; i < served.buckets.size(); ++i) {
            if (route.reaches(served.buckets, served.buckets[i])) {
                (void)builder_.counters_of(served, i, route.mode);
            }
        }
    }
    routing_.routes = std::move(routes);
    update_ready();
}

TOTOGRAPH_INLINE std::size_t ServedSlots::memory_bytes() const {
    std::size_t bytes = 0;
    for (const ServedBackend& served : routing_.backends) {
        for (const Place& place : served.places) {
            for (const Slot& slot : place.of_modes) {
                bytes += slot.forecaster ? slot.forecaster->memory_bytes() : 0;
            }
        }
    }
    return bytes;
}

TOTOGRAPH_INLINE std::optional<Bucket> ServedSlots::bucket_of(const Bucket& sizes) const {
    const ServedBackend& served = routing_.backends[routing_.of(sizes.batch).backend];
    const auto found = std::find_if(served.buckets.begin(), served.buckets.end(),
                                    [&](const Bucket& each) { return each.holds(sizes); });
    return found == served.buckets.end() ? std::optional<Bucket>() : *found;
}

TOTOGRAPH_INLINE std::size_t ServedSlots::largest_result() const {
    std::size_t largest = 0;
    for (const ServedBackend& served : routing_.backends) {
        for (const Bucket& bucket : served.buckets) {
            largest = std::max(largest, served.backend->plan(bucket).result_size());
        }
    }
    return largest;
}

TOTOGRAPH_INLINE void ServedSlots::require_bucket(const Bucket& bucket) const {
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

TOTOGRAPH_INLINE void ServedSlots::update_ready() noexcept {
    bool is_ready = is_warm_;
    for (const ResolvedRoute& route : routing_.routes) {
        const ServedBackend& served = routing_.backends[route.backend];
        for (std::size_t i = 0; i < served.places.size(); ++i) {
            const Place& place = served.places[i];
            const bool is_needed = place.is_warm && route.reaches(served.buckets, served.buckets[i]);
            is_ready = is_ready && (!is_needed || place.at(route.mode).forecaster);
        }
    }
    is_ready_.store(is_ready, std::memory_order_relaxed);
}

TOTOGRAPH_INLINE std::size_t ServedSlots::bucket_for(const ServedBackend& served, const Series& series,
                                                     const ForecastOptions& options) {
    try {
        return choose_bucket(served.buckets, series, options, samples_by_default_, served.name);
    } catch (...) {
        metrics_.add_request_without_bucket();
        throw;
    }
}

TOTOGRAPH_INLINE Slot& ServedSlots::find_or_build(std::size_t backend, std::size_t which, Mode mode,
                                                  const Series& series, const ForecastOptions& options,
                                                  ValuesOn values) {
    ServedBackend& served = routing_.backends[backend];
    ForecastCounters& counters = builder_.counters_of(served, which, mode);
    try {
        // Nothing is built for a request that would be refused.
        (void)check_for(series, options, served.backend->plan(served.buckets[which]), values);
        const Stance stance = current_stance();
        Mode used = stance == Stance::force_eager ? Mode::eager : mode;
        if (captures_.take(false)) {
            update_ready();
        }
        const bool is_there = served.places[which].at(used).forecaster != nullptr;
        // Mode eager captures nothing: it is built when it is needed, whatever the stance, as for a fallback.
        if (was_warm_ && used != Mode::eager && !is_there) {
            recapture(served, which, mode, stance, counters);
            used = stance == Stance::eager_on_recapture ? Mode::eager : mode;
        }
        if (stance == Stance::eager_then_capture && used != Mode::eager && !is_there) {
            captures_.request(backend, which, mode);
            used = Mode::eager;
        }
        Slot& chosen = served.places[which].at(used);
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

TOTOGRAPH_INLINE void ServedSlots::recapture(const ServedBackend& served, std::size_t which, Mode mode, Stance stance,
                                             ForecastCounters& counters) {
    const RecaptureReason reason = served.places[which].why_missing();
    counters.add_recapture(reason);
    const auto text = [&] {
        return "needs " + describe(served, which, mode) + ", which is not built (" + std::string(name(reason)) + ")";
    };
    log(LogTopic::capture,
        [&] { return "recapture: a request " + text() + "; the stance is " + std::string(name(stance)); });
    if (stance == Stance::fail_on_recapture) {
        throw Error(ErrorCode::recapture, "forecast: the request " + text() +
                                              ", and the stance fail_on_recapture forbids to build it now. Call "
                                              "warm_up() first, or take another stance.");
    }
}

}  // namespace totograph::serve::detail
