// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/metrics/forecast_counters.hpp>

#include <chrono>
#include <cstdint>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/serve/metrics/latency_histogram.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE std::uint64_t ForecastCounts::all_recaptures() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : recaptures) {
        sum += count;
    }
    return sum;
}

TOTOGRAPH_INLINE void ForecastCounters::add_forecast(std::chrono::nanoseconds latency, Index replays,
                                                     bool is_finite) noexcept {
    latencies_.record(latency);
    if (!is_finite) {
        add(not_finite_, 1);
    }
    if (replays != 0) {
        add(replays_, static_cast<std::uint64_t>(replays));
    }
}

}  // namespace totograph::serve
