// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/log.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/out_of_memory.hpp>
#include <totograph/forecast/request_parts.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/builder.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/metrics/expect_forecast.hpp>
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

/// Serves forecasts with the buckets of one or several backends: builds what requests need, or all of it ahead
/// (`warm_up`), counts what happens, and does what the thread's stance says when something was not built ahead.
///
/// Any number of threads may use it at once. They are served one after the other, in the order in which they came, so
/// requests that are to run side by side want a service for each thread; those may share a registry and a `Metrics`.
/// `is_ready()`, `waiting()`, `snapshot()`, `metrics()`, `reset_counters()`, `expect()` and `observe()` wait for no
/// forecast, all else for its turn.
/// What a backend or a log sink does while it is called must not come back to the service: such a call throws `Error`
/// (`invalid_argument`), and would wait for ever from another thread that the forecast waits for.
class ForecastService {
public:
    /// Builds nothing yet. Throws `Error`: `invalid_argument` for a backend that the registry does not have, one
    /// without the mode, or routes that do not ascend; `device_failure` for a backend that this machine cannot run.
    explicit ForecastService(const BackendRegistry& registry, const ServiceOptions& options = {})
        : routing_(registry, options),
          metrics_(options.metrics ? options.metrics : std::make_shared<Metrics>()),
          builder_(options.resources, *metrics_) {
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
    ForecastService(const ForecastService&) = delete;
    ForecastService& operator=(const ForecastService&) = delete;
    ~ForecastService() {
        for (detail::ServedBackend& served : routing_.backends) {
            for (detail::Place& place : served.places) {
                for (detail::Slot& slot : place.slots) {
                    slot.free();
                }
            }
        }
    }

    /// Builds and runs every bucket that requests can reach, in the mode that serves it. From then on `is_ready()`, and
    /// needing anything else is a recapture. May be called again, such as after `set_mode`. The forecasts that it makes
    /// are not counted. Throws `Error`: `invalid_argument` for options that cannot be, `no_bucket` for a bucket that is
    /// none of `buckets()`, both before anything is done; and what building and forecasting meet: the service is not
    /// ready then, until another warm-up succeeds.
    WarmUpReport warm_up(const WarmUpOptions& options = {}) {
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

    /// Whether the last warm-up succeeded, and everything that was warmed up and not released since is built in the
    /// mode that serves it now. Any thread may ask at any time.
    [[nodiscard]] bool is_ready() const noexcept { return is_ready_.load(std::memory_order_relaxed); }

    /// How many calls wait for their turn. Any thread may ask at any time.
    [[nodiscard]] std::size_t waiting() const noexcept { return turn_.waiting(); }

    /// Forecasts the steps after the series with the cheapest bucket that holds the request, of the backend that serves
    /// so many series. What none holds runs in parts, which count as one forecast and allocate, and `options` that
    /// leave it open are sampled when any bucket samples: both as in `BucketSet`. The result is a copy, valid as long
    /// as it or a copy of it lives; its memory then serves later results. Once the service is ready, and as many
    /// results as live at a time (up to 8) were there before, this allocates nothing; it makes no system call unless it
    /// waits for another thread. Both are beyond what the backend does. Throws `Error`: `no_bucket` when no bucket
    /// serves the request (`Snapshot::requests_without_bucket`), `recapture` when the stance forbids to build what it
    /// needs, and what the backend throws.
    Forecast forecast(const Series& series, const ForecastOptions& options = {}) {
        const std::scoped_lock turn(turn_);
        const detail::ResolvedRoute& route = routing_.of(series.batch);
        detail::ServedBackend& served = routing_.backends[route.backend];
        const std::size_t which = bucket_for(served, series, options);
        log(LogTopic::sizes, [&] {
            return "a request of " + std::to_string(series.batch) + " x " + std::to_string(series.variates) + " x " +
                   std::to_string(series.steps) + " goes to " + detail::describe(served, which, route.mode);
        });
        detail::Slot* slot = &served.places[which].at(route.mode);
        if (slot->forecaster == nullptr || current_stance() == Stance::force_eager) [[unlikely]] {
            slot = &find_or_build(served, which, route.mode, series, options);
        }
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

    /// Keeps a forecast of one series and variate, so that `observe` can score it: its first step is `first_step`, a
    /// number of your choice that grows by 1 a step. With samples or levels the median and the band from 0.1 to 0.9 are
    /// kept, without them the mean. Waits for no forecast, allocates. Throws `Error` (`invalid_argument`) for a series
    /// or variate that the forecast does not have, and as `OnlineAccuracy::expect`.
    void expect(std::string_view group, Index first_step, const Forecast& forecast, Index series = 0,
                Index variate = 0) {
        detail::expect_forecast(metrics_->accuracy(), group, first_step, forecast, series, variate);
    }

    /// Scores what `expect` kept for a step of a group with what came. Returns whether there was something. Waits for
    /// no forecast. Throws as `OnlineAccuracy::observe`.
    bool observe(std::string_view group, Index step, double actual) {
        return metrics_->accuracy().observe(group, step, actual);
    }

    /// Frees what serves a bucket, in all modes and backends. A request that needs it again is a recapture. Throws
    /// `Error` (`no_bucket`) when it is none of `buckets()`.
    void release(const Bucket& bucket) {
        const std::scoped_lock turn(turn_);
        require_bucket(bucket);
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
                    if (place.at(mode).free()) {
                        log(LogTopic::sizes, [&] { return "released " + detail::describe(served, i, mode); });
                    }
                }
            }
        }
        update_ready();
    }

    /// Changes the mode of everything that no route gives a mode of its own; the environment goes before it. What is
    /// built for another mode stays until it is released. Needing what the new mode has not built is a recapture,
    /// unless `warm_up` builds it, or the mode is `eager`, for which there is nothing to capture. Throws `Error`
    /// (`invalid_argument`), and changes nothing, when a backend does not have it.
    void set_mode(Mode mode) {
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

    /// The mode of requests that no route gives a mode of its own.
    [[nodiscard]] Mode mode() const {
        const std::scoped_lock turn(turn_);
        return routing_.routes.back().mode;
    }
    /// The name of the backend of requests that no route takes.
    [[nodiscard]] const std::string& backend() const {
        const std::scoped_lock turn(turn_);
        return routing_.backends[routing_.routes.back().backend].name;
    }
    /// The buckets of all backends that routes name.
    [[nodiscard]] const std::vector<Bucket>& buckets() const noexcept { return buckets_; }

    /// Bytes that everything built holds beside the weights, without the results.
    [[nodiscard]] std::size_t memory_bytes() const {
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

    /// What is counted by now; of all services that share the metrics. Any thread may ask at any time.
    [[nodiscard]] Snapshot snapshot() const { return metrics_->snapshot(); }
    /// Begins to count anew, for all services that share the metrics. Any thread may do so at any time.
    void reset_counters() { metrics_->reset(); }
    [[nodiscard]] const std::shared_ptr<Metrics>& metrics() const noexcept { return metrics_; }

    /// The bucket that serves requests of these sizes: of the backend that so many series go to, the cheapest that
    /// holds them; nothing when none does.
    [[nodiscard]] std::optional<Bucket> bucket_of(const Bucket& sizes) const {
        const std::scoped_lock turn(turn_);
        const detail::ServedBackend& served = routing_.backends[routing_.of(sizes.batch).backend];
        const auto found = std::find_if(served.buckets.begin(), served.buckets.end(),
                                        [&](const Bucket& each) { return each.holds(sizes); });
        return found == served.buckets.end() ? std::optional<Bucket>() : *found;
    }
    /// The name of the backend that requests of so many series go to.
    [[nodiscard]] const std::string& backend_of(Index batch) const {
        const std::scoped_lock turn(turn_);
        return routing_.backends[routing_.of(batch).backend].name;
    }
    /// The mode that serves requests of so many series.
    [[nodiscard]] Mode mode_of(Index batch) const {
        const std::scoped_lock turn(turn_);
        return routing_.of(batch).mode;
    }

    /// What runs for requests of a bucket: on the backend that serves as many series as it has, in the mode that it
    /// does so; or on another backend or in another mode. Builds nothing. Throws `Error`: `no_bucket` for a bucket that
    /// the backend does not have, `invalid_argument` for a backend or mode that this service does not have.
    [[nodiscard]] Explanation explain(const Bucket& bucket, std::optional<Mode> mode = {},
                                      std::string_view backend = {}) const {
        const std::scoped_lock turn(turn_);
        require_bucket(bucket);
        const detail::ResolvedRoute& route = routing_.to(bucket, backend);
        const Backend& served = *routing_.backends[route.backend].backend;
        detail::require_mode(served, mode.value_or(route.mode));
        return served.explain(bucket, mode.value_or(route.mode));
    }

private:
    using Clock = std::chrono::steady_clock;

    /// After everything that a service's being ready depends on, for threads that may not look at it themselves.
    void update_ready() noexcept {
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

    /// Values of a result that fills the bucket whose results are largest.
    [[nodiscard]] std::size_t largest_result() const {
        std::size_t largest = 0;
        for (const detail::ServedBackend& served : routing_.backends) {
            for (const Bucket& bucket : served.buckets) {
                largest = std::max(largest, served.backend->plan(bucket).result_size());
            }
        }
        return largest;
    }

    void require_bucket(const Bucket& bucket) const {
        if (std::find(buckets_.begin(), buckets_.end(), bucket) != buckets_.end()) {
            return;
        }
        std::string list;
        for (const Bucket& one : buckets_) {
            list += (list.empty() ? "" : "; ") + to_string(one);
        }
        throw Error(ErrorCode::no_bucket, "This service has no compiled size " + to_string(bucket) +
                                              "; it has: " + list + ". Name one of these.");
    }

    /// The cheapest bucket that holds a request; counts those that none holds.
    std::size_t bucket_for(const detail::ServedBackend& served, const Series& series, const ForecastOptions& options) {
        try {
            return choose_bucket(served.buckets, series, options, samples_by_default_, served.name);
        } catch (...) {
            metrics_->add_request_without_bucket();
            throw;
        }
    }

    /// What serves a request by this thread's stance, when that is not what serves it as a rule, or is not there.
    detail::Slot& find_or_build(detail::ServedBackend& served, std::size_t which, Mode mode, const Series& series,
                                const ForecastOptions& options) {
        ForecastCounters& counters = builder_.counters_of(served, which, mode);
        try {
            // Nothing is built for a request that would be refused.
            (void)check_for(series, options, served.backend->plan(served.buckets[which]));
            const Stance stance = current_stance();
            Mode used = stance == Stance::force_eager ? Mode::eager : mode;
            // Mode eager captures nothing: it is built when it is needed, whatever the stance, as for a fallback.
            if (was_warm_ && used != Mode::eager) {
                recapture(served, which, mode, stance, counters);
                used = stance == Stance::eager_on_recapture ? Mode::eager : mode;
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

    /// Counts a recapture. Throws when the stance forbids it.
    static void recapture(const detail::ServedBackend& served, std::size_t which, Mode mode, Stance stance,
                          ForecastCounters& counters) {
        const RecaptureReason reason = served.places[which].why_missing();
        counters.add_recapture(reason);
        const auto text = [&] {
            return "needs " + detail::describe(served, which, mode) + ", which is not built (" +
                   std::string(name(reason)) + ")";
        };
        log(LogTopic::capture,
            [&] { return "recapture: a request " + text() + "; the stance is " + std::string(name(stance)); });
        if (stance == Stance::fail_on_recapture) {
            throw Error(ErrorCode::recapture, "forecast: the request " + text() +
                                                  ", and the stance fail_on_recapture forbids to build it now. Call "
                                                  "warm_up() first, or take another stance.");
        }
    }

    mutable detail::TurnLock turn_;  ///< Guards all below, but what any thread may ask at any time.
    detail::Routing routing_;
    std::shared_ptr<Metrics> metrics_;
    detail::Builder builder_;
    std::vector<Bucket> buckets_;
    detail::ResultPool results_;
    bool samples_by_default_ = false;
    bool is_warm_ = false;   ///< The last warm-up succeeded.
    bool was_warm_ = false;  ///< One did: from then on, needing what is not built is a recapture.
    std::atomic<bool> is_ready_{false};
};

}  // namespace totograph::serve
