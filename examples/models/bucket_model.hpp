// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <utility>

#include <totograph/totograph.hpp>

#include "model.hpp"

namespace examples {

/// One forecaster behind the common interface.
template <class Forecaster>
class BucketForecaster final : public AnyForecaster {
public:
    template <class Weights>
    BucketForecaster(const Weights& weights, int threads) : forecaster_(weights, {.threads = threads}) {}

    totograph::Forecast forecast(const totograph::Series& series, const totograph::ForecastOptions& options) override {
        return forecaster_.forecast(series, options);
    }

private:
    Forecaster forecaster_;
};

/// A model with the buckets of `Set`. A forecaster is made for the bucket that a request needs and not for all of them,
/// which keeps the memory to what is used.
template <class Model, class Set>
class BucketModel final : public AnyModel {
public:
    explicit BucketModel(const std::filesystem::path& checkpoint)
        : weights_(totograph::toto::load<Model>(checkpoint)) {}

    [[nodiscard]] totograph::Index patch_size() const override { return Model::config.patch_size; }

    [[nodiscard]] std::unique_ptr<AnyForecaster> forecaster(const totograph::Series& series,
                                                            const totograph::ForecastOptions& options,
                                                            int threads) const override {
        return with_bucket<std::unique_ptr<AnyForecaster>>(series, options, [&]<class Forecaster>() {
            return std::make_unique<BucketForecaster<Forecaster>>(weights_, threads);
        });
    }

    static ProgramDescription describe(const totograph::Series& series, const totograph::ForecastOptions& options) {
        return with_bucket<ProgramDescription>(series, options, []<class Forecaster>() {
            return ProgramDescription{Forecaster::explain(), Forecaster::dot()};
        });
    }

private:
    /// Calls `action` with the type of the forecaster for the bucket that serves a request.
    template <class Result, class Action>
    static Result with_bucket(const totograph::Series& series, const totograph::ForecastOptions& options,
                              Action action) {
        const std::size_t which = Set::find(series, options);
        Result result;
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            ((i == which ? void(result = action.template operator()<totograph::Forecaster<Model, Set::by_cost[i]>>())
                         : void()),
             ...);
        }
        (std::make_index_sequence<Set::count>());
        return result;
    }

    totograph::toto::ModelWeights<Model> weights_;
};

}  // namespace examples
