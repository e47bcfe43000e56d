// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/forecast.hpp>

namespace totograph {

/// Which draws: the names of the first series and sample, as a forecast of samples has them.
struct QuantileDraws {
    std::uint64_t seed = 0;
    std::uint32_t first_series = 0;
    std::uint32_t first_sample = 0;
};

namespace forecast_detail {

/// The quantile function that lines through quantiles at fixed levels make. The first and the last line go on to the
/// levels 0 and 1.
double quantile_at(std::span<const float> quantiles, std::span<const double> levels, double level);

}  // namespace forecast_detail

/// Samples of a forecast of quantiles, `[batch, variates, horizon, samples]`, for callers who need them. Each is drawn
/// from the quantile function of its step: lines between the model's levels, which go on beyond the outer ones. The
/// model says nothing of how steps depend on each other, so they are drawn independently: what a sample says of one
/// step is as good as the quantiles, and of sums over steps it says too little spread.
///
/// A draw is named by seed, series, variate, sample and step: it is the same however requests are put into batches.
/// Throws `Error` when the forecast has no quantiles at two levels or more, for fewer than one sample, for samples
/// whose numbers do not fit 32 bits, and (`not_finite`) when values of the forecast are no finite numbers.
std::vector<float> sample_quantiles(const Forecast& forecast, Index samples, const QuantileDraws& draws = {});

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/results/impl/quantile_samples.hpp>
#endif
