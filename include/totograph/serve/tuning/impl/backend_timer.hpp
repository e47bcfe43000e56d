// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/tuning/backend_timer.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/serve/synthetic_request.hpp>
#include <totograph/serve/tuning/tune_threads.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE std::optional<std::size_t> BackendTimer::place_of(const Bucket& request) const {
    const SyntheticRequest made_up(request);
    try {
        return choose_bucket(buckets_, made_up.series(), made_up.options(), samples_by_default(buckets_));
    } catch (const Error& error) {
        if (error.code() == ErrorCode::no_bucket) {
            return std::nullopt;
        }
        throw;
    }
}

TOTOGRAPH_INLINE std::optional<Bucket> BackendTimer::bucket_of(const Bucket& request) const {
    const auto place = place_of(request);
    return place ? std::optional(buckets_[*place]) : std::nullopt;
}

TOTOGRAPH_INLINE std::optional<double> BackendTimer::seconds(const Bucket& request, double too_slow) {
    const auto place = place_of(request);
    if (!place) {
        return std::nullopt;
    }
    auto& forecaster = made_[*place];
    if (forecaster == nullptr) {
        forecaster = backend_->make(buckets_[*place], mode_, resources_);
    }
    const auto now = [&] {
        return clock_ ? clock_() : std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
    };
    const SyntheticRequest made_up(request);
    return detail::median_seconds(
        [&] {
            const auto start = now();
            (void)forecaster->forecast(made_up.series(), made_up.options());
            const double taken = std::chrono::duration<double>(now() - start).count();
            spent_ += taken;
            return taken;
        },
        too_slow);
}

}  // namespace totograph::serve
