// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace totograph::serve {

/// What a stress run compares.
enum class Compared : std::uint8_t {
    values,     ///< Every value: of the mean, or of each sampled future. For precisions that keep draws the same.
    summaries,  ///< Of sampled forecasts the median at each step; coarse rounding takes futures to other components.
};

/// What a stress run allows. All deviations are in units of a series' scale (`series_scale`).
struct StressThresholds {
    Compared compared = Compared::values;
    /// The largest mean absolute deviation of any variate in any forecast.
    double mae = 1e-4;
    /// A sampled future whose own mean deviation is larger than this *jumped*: a uniform number lay between two
    /// roundings of a cumulative probability, and another component of the mixture was drawn. It is counted, and left
    /// out of `mae`.
    double jump = 1e-3;
    /// The largest share of sampled futures that may jump. (One future of 128 that is always wrong is a share of 8e-3.)
    double jumps = 2e-3;
    std::uint64_t recaptures = 0;      ///< After warm-up.
    double slowest = 1.0;              ///< The median latency of a bucket, in units of the baseline's.
    double memory = 1.05;              ///< Bytes held, in units of what `explain` predicts,
    std::size_t memory_slack = 65536;  ///< and so many bytes more for each bucket.
    /// Bytes by which the process (and the device) may grow while requests repeat.
    std::size_t growth = std::size_t{16} << 20U;
    std::uint64_t ignored_caches = 0;  ///< Cache files that were there and could not be used.

    /// For results in f32.
    static constexpr StressThresholds f32() { return {}; }
    /// For results whose arithmetic or weights are bf16.
    static constexpr StressThresholds bf16() { return {.compared = Compared::summaries, .mae = 5e-3}; }
};

}  // namespace totograph::serve
