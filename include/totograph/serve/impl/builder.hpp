// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/builder.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
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

TOTOGRAPH_INLINE double Builder::build(ServedBackend& served, std::size_t which, Mode mode) {
    require_mode(*served.backend, mode);
    Slot& slot = served.places[which].at(mode);
    ForecastCounters& counters = counters_of(served, which, mode);
    const auto start = std::chrono::steady_clock::now();
    std::unique_ptr<BucketForecaster> made = served.backend->make(served.buckets[which], mode, resources_);
    if (!made) {
        throw Error(ErrorCode::invalid_argument,
                    "The backend " + io::in_quotes(served.name) + " made no forecaster for the size " +
                        to_string(served.buckets[which]) + ". Backend::make has to return one, or throw.");
    }
    const double seconds = seconds_since(start);
    const Index captures = made->captures();
    const std::size_t bytes = made->memory_bytes();
    slot.forecaster = std::move(made);
    slot.hold(bytes);
    counters.add_build(seconds, captures);
    log(LogTopic::capture, [&] {
        return "built " + describe(served, which, mode) + " in " + seconds_text(seconds) + ", " +
               totograph::detail::count_text(static_cast<std::size_t>(captures), "capture", "captures") + ", " +
               totograph::detail::bytes_text(bytes);
    });
    return seconds;
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
