// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <totograph/exec/weights.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/series.hpp>

// Forecasters that several tests use, compiled once: a test that only forecasts need not know their type.

namespace shared {

namespace tg = totograph;

/// Five patches of context: for an odd number, the second forecast patch does not depend on whether there is a cache.
/// (xPos is centred on half of the last position of a call, rounded down. Cached keys keep the centre of the call that
/// made them, so from the third patch on they and the query have different ones, in the reference as here.)
inline constexpr tg::Bucket mean_bucket{.batch = 2, .variates = 3, .context = 40, .horizon = 24};
inline constexpr tg::Bucket sampled_bucket{.batch = 2, .variates = 3, .context = 40, .horizon = 24, .samples = 6};

/// A forecaster, or a set of them.
class AnyForecaster {
public:
    virtual ~AnyForecaster() = default;
    virtual tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& options = {}) = 0;
};

/// The checkpoint of the case `mixture`.
tg::Weights load();

/// Forecasts with default options, on the CPU; there is one for each bucket above.
template <tg::Bucket bucket>
std::unique_ptr<AnyForecaster> make_forecaster(const tg::Weights& weights, int threads);
extern template std::unique_ptr<AnyForecaster> make_forecaster<mean_bucket>(const tg::Weights&, int);
extern template std::unique_ptr<AnyForecaster> make_forecaster<sampled_bucket>(const tg::Weights&, int);

/// A set of both buckets.
std::unique_ptr<AnyForecaster> make_bucket_set(const tg::Weights& weights, int threads);

}  // namespace shared
