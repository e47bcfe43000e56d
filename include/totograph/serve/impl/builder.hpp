// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/builder.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/thread_pools.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/background_build.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/served_backend.hpp>
#include <totograph/serve/synthetic_request.hpp>
#include <totograph/serve/warm_up_report.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE ForecastCounters& Builder::counters_of(ServedBackend& served, std::size_t which, Mode mode) {
    Slot& slot = served.places[which].at(mode);
    if (slot.counters == nullptr) {
        slot.counters = &metrics_.counters(served.name, served.buckets[which], mode);
    }
    return *slot.counters;
}

TOTOGRAPH_INLINE Built Builder::make(const Backend& backend, const Bucket& bucket, Mode mode,
                                     const BackendResources& resources) {
    const auto start = std::chrono::steady_clock::now();
    std::unique_ptr<BucketForecaster> made = backend.make(bucket, mode, resources);
    if (!made) {
        throw Error(ErrorCode::invalid_argument, "The backend " + io::in_quotes(backend.name()) +
                                                     " made no forecaster for the size " + to_string(bucket) +
                                                     ". Backend::make has to return one, or throw.");
    }
    return {std::move(made), seconds_since(start)};
}

TOTOGRAPH_INLINE double Builder::build(ServedBackend& served, std::size_t which, Mode mode) {
    require_mode(*served.backend, mode);
    (void)counters_of(served, which, mode);
    Built built = make(*served.backend, served.buckets[which], mode, resources_);
    const double seconds = built.seconds;
    install(served, which, mode, std::move(built));
    return seconds;
}

TOTOGRAPH_INLINE std::function<Built()> Builder::apart(const ServedBackend& served, std::size_t which,
                                                       Mode mode) const {
    // A pool of threads serves one forecaster at a time.
    BackendResources own = resources_;
    own.pools = std::make_shared<cpu::ThreadPools>();
    own.is_beside_forecasts = true;
    return [backend = served.backend, bucket = served.buckets[which], mode, own = std::move(own)] {
        return make(*backend, bucket, mode, own);
    };
}

TOTOGRAPH_INLINE void Builder::install(ServedBackend& served, std::size_t which, Mode mode, Built built) {
    Slot& slot = served.places[which].at(mode);
    ForecastCounters& counters = counters_of(served, which, mode);
    const Index captures = built.forecaster->captures();
    const std::size_t bytes = built.forecaster->memory_bytes();
    slot.forecaster = std::move(built.forecaster);
    slot.forecaster->use_pools(*resources_.pools);
    slot.hold(bytes);
    counters.add_build(built.seconds, captures);
    log(LogTopic::capture, [&] {
        return "built " + describe(served, which, mode) + " in " + seconds_text(built.seconds) + ", " +
               totograph::detail::count_text(static_cast<std::size_t>(captures), "capture", "captures") + ", " +
               totograph::detail::bytes_text(bytes);
    });
}

TOTOGRAPH_INLINE void Builder::warm_up(ServedBackend& served, std::size_t which, Mode mode, int forecasts,
                                       WarmUpReport& report) {
    const auto is_this = [&](const WarmUpReport::Row& row) {
        return row.backend == served.name && row.mode == mode && row.bucket == served.buckets[which];
    };
    if (std::any_of(report.rows.begin(), report.rows.end(), is_this)) {
        return;  // another route comes here too
    }
    Slot& slot = served.places[which].at(mode);
    WarmUpReport::Row row{.backend = served.name, .mode = mode, .bucket = served.buckets[which]};
    if (!slot.forecaster) {
        row.build_seconds = build(served, which, mode);
        row.captures = slot.forecaster->captures();
    }
    const SyntheticRequest request(row.bucket);
    for (int i = 0; i < forecasts; ++i) {
        const auto start = std::chrono::steady_clock::now();
        (void)slot.forecaster->forecast(request.series(), request.options());
        const double seconds = seconds_since(start);
        (i == 0 ? row.first_seconds : row.later_seconds) = i < 2 ? seconds : std::min(row.later_seconds, seconds);
    }
    row.bytes = slot.forecaster->memory_bytes();  // a backend may take some with its first forecasts
    slot.hold(row.bytes);
    report.rows.push_back(std::move(row));
}

}  // namespace totograph::serve::detail
