// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/shared_forecasters.hpp"

#include <totograph/totograph.hpp>

#include "models/toto1/case_list.hpp"

namespace shared {
namespace {

using Model = fixture::models::Small;

template <class Forecaster>
class Compiled final : public AnyForecaster {
public:
    Compiled(const tg::Weights& weights, int threads)
        : forecaster_(tg::ModelWeights<Model>{weights}, {.threads = threads}) {}

    tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& options) override {
        return forecaster_.forecast(series, options);
    }

private:
    Forecaster forecaster_;
};

}  // namespace

tg::Weights load() {
    return tg::load<Model>(fixture::folder("mixture")).weights;
}

template <tg::Bucket bucket>
std::unique_ptr<AnyForecaster> make_forecaster(const tg::Weights& weights, int threads) {
    return std::make_unique<Compiled<tg::Forecaster<Model, bucket>>>(weights, threads);
}
template std::unique_ptr<AnyForecaster> make_forecaster<mean_bucket>(const tg::Weights&, int);
template std::unique_ptr<AnyForecaster> make_forecaster<sampled_bucket>(const tg::Weights&, int);

std::unique_ptr<AnyForecaster> make_bucket_set(const tg::Weights& weights, int threads) {
    return std::make_unique<Compiled<tg::BucketSet<Model, mean_bucket, sampled_bucket>>>(weights, threads);
}

}  // namespace shared
