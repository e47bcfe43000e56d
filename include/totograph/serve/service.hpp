// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cuda/device_forecast.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/metrics/expect_forecast.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/metrics/snapshot.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/result_pool.hpp>
#include <totograph/serve/routing.hpp>
#include <totograph/serve/served_backend.hpp>
#include <totograph/serve/served_slots.hpp>
#include <totograph/serve/service_options.hpp>
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
/// What a backend does while it is called must not come back to the service, and a log sink must call no service: a
/// call that waits for its turn throws `Error` (`invalid_argument`) there, and would wait for ever from another thread
/// that the forecast waits for. Those that wait for no forecast, `buckets()` and the constructor may be called there,
/// too. A log sink must not end the life of a service, which waits for what it builds in the background, and that may
/// wait for the sink.
class ForecastService {
public:
    /// Builds nothing that stays. A route without `max_batch` is measured, which may take seconds, once on a machine.
    /// Throws `Error`: `invalid_argument` for a backend that the registry does not have, one without the mode, or
    /// routes that do not ascend; `device_failure` for a backend that this machine cannot run.
    explicit ForecastService(const BackendRegistry& registry, const ServiceOptions& options = {});
    ForecastService(const ForecastService&) = delete;
    ForecastService& operator=(const ForecastService&) = delete;
    ~ForecastService() = default;

    /// Builds and runs every bucket that requests can reach, in the mode that serves it. From then on `is_ready()`, and
    /// needing anything else is a recapture. May be called again, such as after `set_mode`. The forecasts that it makes
    /// are not counted. Throws `Error`: `invalid_argument` for options that cannot be, `no_bucket` for a bucket that is
    /// none of `buckets()`, both before anything is done; and what building and forecasting meet: the service is not
    /// ready then, until another warm-up succeeds.
    WarmUpReport warm_up(const WarmUpOptions& options = {});

    /// Whether the last warm-up succeeded, and everything that was warmed up and not released since is built in the
    /// mode that serves it now. Any thread may ask at any time.
    [[nodiscard]] bool is_ready() const noexcept { return slots_.is_ready(); }

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
    Forecast forecast(const Series& series, const ForecastOptions& options = {});

    /// Puts a forecast onto a stream of the caller's, a `cudaStream_t`, and returns: `cuda::Forecaster::forecast_on`
    /// behind the service, with the same promises. The request has to fit a bucket in one piece. The result is no copy:
    /// it is overwritten by the next forecast of the bucket. Metrics count it with the time that the host took, and as
    /// finite. Throws `Error` as `forecast` does, and `invalid_argument` where the backend runs on no device.
    cuda::DeviceForecast forecast_on(void* stream, const Series& series, const ForecastOptions& options = {});
    /// The same of a series in the device's memory, which the host never reads.
    cuda::DeviceForecast forecast_on(void* stream, const cuda::DeviceSeries& series,
                                     const ForecastOptions& options = {});

    /// Keeps a forecast of one series and variate, so that `observe` can score it: its first step is `first_step`, a
    /// number of your choice that grows by 1 a step. With samples or levels the median and the band from 0.1 to 0.9 are
    /// kept, without them the mean. Waits for no forecast, allocates. Throws `Error` (`invalid_argument`) for a series
    /// or variate that the forecast does not have, and as `OnlineAccuracy::expect`.
    /// Several series of a group have numbers: `expect({"checkout", 3}, ...)`.
    void expect(const ScoredSeries& scored, Index first_step, const Forecast& forecast, Index series = 0,
                Index variate = 0) {
        detail::expect_forecast(metrics_->accuracy(), scored, first_step, forecast, series, variate);
    }

    /// Scores what `expect` kept for a step of a series with what came. Returns whether there was something. Waits for
    /// no forecast. Throws as `OnlineAccuracy::observe`.
    bool observe(const ScoredSeries& scored, Index step, double actual) {
        return metrics_->accuracy().observe(scored, step, actual);
    }

    /// Frees what serves a bucket, in all modes and backends. A request that needs it again is a recapture. Throws
    /// `Error` (`no_bucket`) when it is none of `buckets()`.
    void release(const Bucket& bucket);

    /// Changes the mode of everything that no route gives a mode of its own; the environment goes before it. What is
    /// built for another mode stays until it is released. Needing what the new mode has not built is a recapture,
    /// unless `warm_up` builds it, or the mode is `eager`, for which there is nothing to capture. Throws `Error`
    /// (`invalid_argument`), and changes nothing, when a backend does not have it.
    void set_mode(Mode mode);

    /// The mode of requests that no route gives a mode of its own.
    [[nodiscard]] Mode mode() const {
        const std::scoped_lock turn(turn_);
        return slots_.routing().routes.back().mode;
    }
    /// The name of the backend of requests that no route takes.
    [[nodiscard]] const std::string& backend() const {
        const std::scoped_lock turn(turn_);
        const detail::Routing& routing = slots_.routing();
        return routing.backends[routing.routes.back().backend].name;
    }
    /// The buckets of all backends that routes name.
    [[nodiscard]] const std::vector<Bucket>& buckets() const noexcept { return slots_.buckets(); }

    /// Bytes that everything built holds beside the weights, without the results.
    [[nodiscard]] std::size_t memory_bytes() const;

    /// What is counted by now; of all services that share the metrics. Any thread may ask at any time.
    [[nodiscard]] Snapshot snapshot() const { return metrics_->snapshot(); }
    /// Begins to count anew, for all services that share the metrics. Any thread may do so at any time.
    void reset_counters() { metrics_->reset(); }
    [[nodiscard]] const std::shared_ptr<Metrics>& metrics() const noexcept { return metrics_; }

    /// The bucket that serves requests of these sizes: of the backend that so many series go to, the cheapest that
    /// holds them; nothing when none does.
    [[nodiscard]] std::optional<Bucket> bucket_of(const Bucket& sizes) const;
    /// The name of the backend that requests of so many series go to.
    [[nodiscard]] const std::string& backend_of(Index batch) const {
        const std::scoped_lock turn(turn_);
        const detail::Routing& routing = slots_.routing();
        return routing.backends[routing.of(batch).backend].name;
    }
    /// The mode that serves requests of so many series.
    [[nodiscard]] Mode mode_of(Index batch) const {
        const std::scoped_lock turn(turn_);
        return slots_.routing().of(batch).mode;
    }

    /// What runs for requests of a bucket: on the backend that serves as many series as it has, in the mode that it
    /// does so; or on another backend or in another mode. Builds nothing. Throws `Error`: `no_bucket` for a bucket that
    /// the backend does not have, `invalid_argument` for a backend or mode that this service does not have.
    [[nodiscard]] Explanation explain(const Bucket& bucket, std::optional<Mode> mode = {},
                                      std::string_view backend = {}) const;

private:
    using Clock = std::chrono::steady_clock;

    template <class Given>
    cuda::DeviceForecast put_on(detail::Slot& slot, void* stream, const Given& series, const ForecastOptions& options);

    mutable detail::TurnLock turn_;  ///< Guards all below, but what any thread may ask at any time.
    std::shared_ptr<Metrics> metrics_;
    detail::ServedSlots slots_;  // behind the metrics that it counts in
    detail::ResultPool results_;
};

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/service.hpp>
#endif
