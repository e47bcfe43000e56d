// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cuda/device_forecast.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::cpu {

class ThreadPools;

}  // namespace totograph::cpu

namespace totograph::serve {

/// What is decided when a forecaster is made.
struct BackendResources {
    /// Threads that a forecast may use on the CPU, at most `totograph::most_threads`; 0 for all processors that the
    /// process may use.
    int threads = 0;
    int device = 0;  ///< The device, for backends that have several.
    /// Threads for forecasters of which only one forecasts at a time, as those of a service, which sets this. Without,
    /// each starts its own.
    std::shared_ptr<cpu::ThreadPools> pools{};
    /// Whether others forecast meanwhile: what would be measured, the fastest number of threads above all, would find
    /// their load, so what is not known by then is not measured.
    bool is_beside_forecasts = false;
};

namespace detail {

[[noreturn]] inline void refuse_stream() {
    throw Error(
        ErrorCode::invalid_argument,
        "This backend has no streams and reads no memory of a device. Use one for CUDA, or forecast without a stream.");
}

}  // namespace detail

/// A forecaster whose bucket is known at run time. One thread at a time may use it.
class BucketForecaster {
public:
    BucketForecaster() = default;
    BucketForecaster(const BucketForecaster&) = delete;
    BucketForecaster& operator=(const BucketForecaster&) = delete;
    virtual ~BucketForecaster() = default;

    /// Forecasts the steps after the series, as `totograph::Forecaster::forecast` does: the result is a view of this
    /// forecaster's memory, valid until its next forecast. It tells how many of its values are no finite numbers
    /// (`Forecast::not_finite`), which metrics count. The request is as the caller made it: nothing has been checked,
    /// and it may be larger than the bucket. `forecast_in_parts` checks it, and divides what is too large. Throws
    /// `Error` for what it cannot forecast.
    virtual Forecast forecast(const Series& series, const ForecastOptions& options) = 0;

    /// Puts a forecast onto a stream of the caller's, a `cudaStream_t`, and returns, as `cuda::Forecaster::forecast_on`
    /// does: the result is a view of this forecaster's memory on the device, valid until its next forecast. The request
    /// has to fit the bucket. Throws `Error`: `invalid_argument` where nothing runs on a device.
    virtual cuda::DeviceForecast forecast_on(void* /*stream*/, const Series& /*series*/,
                                             const ForecastOptions& /*options*/) {
        detail::refuse_stream();
    }
    /// The same of a series in the device's memory, of a backend whose plan has an imputation (`ForecastPlan`).
    virtual cuda::DeviceForecast forecast_on(void* /*stream*/, const cuda::DeviceSeries& /*series*/,
                                             const ForecastOptions& /*options*/) {
        detail::refuse_stream();
    }

    /// Bytes that it holds beside the weights.
    [[nodiscard]] virtual std::size_t memory_bytes() const = 0;

    /// Graphs captured when it was made; 0 where nothing is captured. Forecasts capture nothing.
    [[nodiscard]] virtual Index captures() const { return 0; }

    /// Captured graphs that its last forecast replayed. Asked after every forecast, so it should cost nothing.
    [[nodiscard]] virtual Index replays() const noexcept { return 0; }

    /// Computes with threads of these pools from now on, not with those that it was made with: it was made beside
    /// others' forecasts, and from now on only one of them runs at a time.
    virtual void use_pools(cpu::ThreadPools& /*pools*/) {}
};

/// An executor behind a name: makes forecasters for the buckets that it was compiled for. Immutable, so that any number
/// of threads may use it.
class Backend {
public:
    Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    virtual ~Backend() = default;

    /// The name that it is picked by, such as `cpu` or `cuda`.
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// The buckets that it serves, the cheapest first.
    [[nodiscard]] virtual std::vector<Bucket> buckets() const = 0;
    /// What it computes or keeps weights in, such as `f32`, `tf32` or `bf16`; empty where it does not tell.
    [[nodiscard]] virtual std::string_view precision() const { return {}; }
    /// What its forecasts run on, so that what was measured there is not taken for another one, such as a device's name
    /// and its driver; empty: it does not tell, and what is measured is not kept for other processes.
    [[nodiscard]] virtual std::string runs_on(const BackendResources&) const { return {}; }
    /// What a mode does here, in a line; empty when it cannot be had.
    [[nodiscard]] virtual std::string describe(Mode mode) const = 0;
    /// Why it cannot be used on this machine, as a sentence; empty when it can.
    [[nodiscard]] virtual std::string unavailable(const BackendResources&) const { return {}; }

    /// A forecaster for one of `buckets()`. Throws `Error`: `no_bucket` for another bucket, `invalid_argument` for a
    /// mode that it does not have, and what making it meets.
    [[nodiscard]] virtual std::unique_ptr<BucketForecaster> make(const Bucket& bucket, Mode mode,
                                                                 const BackendResources& resources) const = 0;
    /// How such a forecaster divides and checks requests, and what its results hold; its programs do not matter. Makes
    /// nothing. A service checks with it before it builds, and has room for results. A backend of patches or quantiles
    /// tells so here. Throws `Error` (`no_bucket`) for another bucket.
    [[nodiscard]] virtual ForecastPlan plan(const Bucket& bucket) const { return ForecastPlan::of(bucket); }
    /// Lets what is put onto a stream from now on wait for what is on another one, both `cudaStream_t` of a device. The
    /// host does not wait. Throws `Error`: `invalid_argument` where nothing runs on a device, `device_failure`.
    virtual void wait_stream(int /*device*/, void* /*stream*/, void* /*other*/) const { detail::refuse_stream(); }
    /// What such a forecaster would run. Makes nothing. Throws `Error` as `make` does.
    [[nodiscard]] virtual Explanation explain(const Bucket& bucket, Mode mode) const = 0;
};

}  // namespace totograph::serve
