// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

/// Tells the time; empty: the steady clock does.
using TimerClock = std::function<std::chrono::nanoseconds()>;

/// Times requests of any sizes with one backend, each by the bucket that would serve it. Keeps what it made, a
/// forecaster for each bucket. One thread at a time may use it.
class BackendTimer {
public:
    BackendTimer(std::shared_ptr<const Backend> backend, Mode mode, BackendResources resources, TimerClock clock = {})
        : backend_(std::move(backend)),
          mode_(mode),
          resources_(std::move(resources)),
          clock_(std::move(clock)),
          buckets_(backend_->buckets()) {}

    [[nodiscard]] const Backend& backend() const noexcept { return *backend_; }
    [[nodiscard]] Mode mode() const noexcept { return mode_; }

    /// The bucket that serves such a request, in parts where it is larger; nothing when none does.
    [[nodiscard]] std::optional<Bucket> bucket_of(const Bucket& request) const;

    /// Seconds of a forecast of a made-up request: the median of some after a first one, or the shorter one of two long
    /// ones; of one that is beyond `too_slow`, that one. Nothing when no bucket serves it. Throws `Error` for what
    /// forecasting meets.
    std::optional<double> seconds(const Bucket& request, double too_slow = std::numeric_limits<double>::infinity());

    /// Seconds that all its forecasts took so far.
    [[nodiscard]] double spent() const noexcept { return spent_; }

    /// Frees what it made.
    void release() { made_.clear(); }

private:
    std::shared_ptr<const Backend> backend_;
    Mode mode_;
    BackendResources resources_;
    TimerClock clock_;
    std::vector<Bucket> buckets_;
    double spent_ = 0;
    std::map<std::size_t, std::unique_ptr<BucketForecaster>> made_;  ///< By the bucket's place.

    [[nodiscard]] std::optional<std::size_t> place_of(const Bucket& request) const;
};

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/tuning/impl/backend_timer.hpp>
#endif
