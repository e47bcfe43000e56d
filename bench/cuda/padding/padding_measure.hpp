// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include <totograph/models/toto2/family.hpp>

#include "../measure.hpp"

// Requests in a bucket that is too large for them, and in one of their own size.

namespace bench::padding {

/// The full-size Toto 1.0.
using Toto1 = Model;
/// Toto 2.0 22m, in blocks of four patches.
struct Toto2 {
    using Checkpoint = tg::toto2::toto2_22m;
    static constexpr tg::toto2::Toto2Config config = Checkpoint::config;
    static constexpr tg::toto2::Inference inference{.decode_block_size = 128};
};

inline constexpr tg::Bucket toto1_bucket{.batch = 8, .variates = 7, .context = 2048, .horizon = 256, .samples = 32};
inline constexpr tg::Bucket toto2_bucket{.batch = 8, .variates = 7, .context = 2048, .horizon = 512};

/// A bucket that is smaller along one axis.
constexpr tg::Bucket with_series(tg::Bucket bucket, Index series) {
    bucket.batch = series;
    return bucket;
}
constexpr tg::Bucket with_variates(tg::Bucket bucket, Index variates) {
    bucket.variates = variates;
    return bucket;
}
constexpr tg::Bucket with_context(tg::Bucket bucket, Index context) {
    bucket.context = context;
    return bucket;
}
constexpr tg::Bucket with_samples(tg::Bucket bucket, Index samples) {
    bucket.samples = samples;
    return bucket;
}

template <class ModelType>
using WeightsOf = tg::WeightsOf<ModelType>;

/// Forecasts a series, host to host.
using Forecast = std::function<void(const tg::Series&, const tg::ForecastOptions&)>;

/// Makes a forecaster of one bucket.
template <class ModelType, tg::Bucket bucket>
Forecast make_forecaster(const WeightsOf<ModelType>& weights) {
    using Forecaster =
        tg::cuda::Forecaster<ModelType, bucket, tg::cuda::ForecasterOptions{.precision = Precision::bf16}>;
    const auto forecaster = std::make_shared<Forecaster>(weights);
    return [forecaster](const tg::Series& series, const tg::ForecastOptions& options) {
        (void)forecaster->forecast(series, options);
    };
}

// One file each, so that they compile side by side.
Forecast toto1_whole(const WeightsOf<Toto1>& weights);
Forecast toto1_series_eighth(const WeightsOf<Toto1>& weights);
Forecast toto1_series_half(const WeightsOf<Toto1>& weights);
Forecast toto1_variates_one(const WeightsOf<Toto1>& weights);
Forecast toto1_variates_four(const WeightsOf<Toto1>& weights);
Forecast toto1_context_eighth(const WeightsOf<Toto1>& weights);
Forecast toto1_context_half(const WeightsOf<Toto1>& weights);
Forecast toto1_samples_eighth(const WeightsOf<Toto1>& weights);
Forecast toto1_samples_half(const WeightsOf<Toto1>& weights);
Forecast toto2_whole(const WeightsOf<Toto2>& weights);
Forecast toto2_series_eighth(const WeightsOf<Toto2>& weights);
Forecast toto2_series_half(const WeightsOf<Toto2>& weights);
Forecast toto2_variates_one(const WeightsOf<Toto2>& weights);
Forecast toto2_variates_four(const WeightsOf<Toto2>& weights);
Forecast toto2_context_eighth(const WeightsOf<Toto2>& weights);
Forecast toto2_context_half(const WeightsOf<Toto2>& weights);

}  // namespace bench::padding
