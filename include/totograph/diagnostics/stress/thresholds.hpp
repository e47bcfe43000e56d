// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace totograph::serve {

/// What a stress run compares.
enum class Compared : std::uint8_t {
    values,     ///< Every value: of the mean, or of each sampled future. For precisions that keep draws the same.
    summaries,  ///< Of sampled forecasts the median at each step; coarse rounding takes futures to other components.
};

/// What a stress run allows. All deviations are in units of a series' scale (`compare_forecasts`).
struct StressThresholds {
    Compared compared = Compared::values;
    /// The largest mean absolute deviation of all forecasts of one size of request,
    double mae = 1e-4;
    /// in units of `mae`, of any variate in any forecast,
    double worst = 5;
    /// and of any step of one, of which a long horizon would hide a fault: of its mean or median, or of the median of
    /// what its futures deviate by. Some requests are ill-conditioned, so these are more than 1: in f32, of contexts of
    /// 16 rows of the bundled metrics, one variate was off by 17 times the mean, and one step by 70 times.
    double worst_step = 20;
    /// A sampled future whose own mean deviation is larger than this, and than ten times `mae`, *jumped*: a uniform
    /// number lay between two roundings of a cumulative probability, and another component of the mixture was drawn. So
    /// did one of which a value is off by more than ten times that, in units of the scale and the value's own magnitude
    /// together. It is counted, and left out of `mae`.
    double jump = 1e-3;
    /// The largest share of drawn values after which a future may jump. Cumulative probabilities that are rounded to
    /// f32 differ by some 1e-5.
    double jumps = 5e-5;
    /// The largest share of futures that may jump, however many values they have.
    double jumped_futures = 0.05;
    std::uint64_t recaptures = 0;  ///< After warm-up.
    /// The lower quartile of a size's latencies, in units of the planned program's in the same round: so what is slow
    /// in most rounds fails, and neither a busy moment nor a mode that comes to the same program does.
    double slowest = 1.1;
    double memory = 1.05;              ///< Bytes held, in units of what `explain` predicts,
    std::size_t memory_slack = 65536;  ///< and so many bytes more for each bucket.
    /// Bytes by which the process (and the device) may grow while requests repeat.
    std::size_t growth = std::size_t{16} << 20U;
    std::uint64_t ignored_caches = 0;  ///< Cache files that were there and could not be used.

    /// The mean deviation from which on a future jumped.
    [[nodiscard]] constexpr double least_jump() const { return std::max(jump, 10 * mae); }

    /// How many of these futures may jump by chance.
    [[nodiscard]] constexpr double allowed_jumps(std::uint64_t draws, std::uint64_t futures) const {
        return std::min(jumps * static_cast<double>(draws), jumped_futures * static_cast<double>(futures));
    }

    /// For results in f32.
    static constexpr StressThresholds f32() { return {}; }
    /// For results whose arithmetic or weights are bf16 or tf32. Rounding the history alone, in f32, moved one variate
    /// by up to 8 times and one step by up to 40 times the mean; here each GEMM rounds.
    static constexpr StressThresholds bf16() {
        return {.compared = Compared::summaries, .mae = 5e-3, .worst = 20, .worst_step = 100};
    }
};

}  // namespace totograph::serve
