// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/forecast/cpu/forecaster.hpp>
#include <totograph/forecast/cpu/resources.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/state_access.hpp>
#include <totograph/forecast/weights/model_weights.hpp>

namespace totograph {

/// Several buckets behind one object: a request goes to the cheapest bucket that holds it. What none holds runs in
/// parts (`Forecaster::forecast`), with the bucket that uses most of its context, and of those the one that takes the
/// fewest runs. One thread at a time may use a set; its forecasters share their threads.
///
/// Whether a forecast is sampled does not depend on the sizes of a request. `ForecastOptions::samples` says it; where
/// that is absent, a set with any sampled bucket samples (as many futures as the chosen bucket has), and one of mean
/// buckets alone gives the mean. An absent horizon is the chosen bucket's.
template <class Model, ForecasterOptions options, Bucket... buckets>
class BasicBucketSet {
    static_assert(sizeof...(buckets) > 0, "totograph: a bucket set needs at least one bucket.");

public:
    /// How many buckets there are.
    static constexpr std::size_t count = sizeof...(buckets);

    /// The buckets, cheapest first.
    static constexpr std::array<Bucket, count> by_cost = buckets_by_cost<Model, buckets...>;

    /// What a forecast gives, as the family says (`Forecaster::Result`).
    using Result = typename Forecaster<Model, by_cost[0], options>::Result;

    /// Makes a forecaster for each bucket, and one team of threads for all. Throws `Error` (`invalid_argument`) when
    /// the number of threads is negative.
    explicit BasicBucketSet(const WeightsOf<Model>& weights, const ForecasterResources& resources = {})
        : forecasters_(make_all(weights, {.threads = resources.threads, .pool = thread_pool_of(resources)},
                                std::make_index_sequence<count>())) {}

    /// Forecasts with the cheapest bucket that holds the request, or in parts; the result is valid until the next
    /// forecast. Throws `Error` (`no_bucket`) listing the buckets when a request has more variates than any of them, a
    /// longer horizon that is not to be extended, or wants samples where all are of the mean.
    Result forecast(const Series& series, const ForecastOptions& request_options = {}) {
        const std::size_t which = find(series, request_options);
        require_memory();
        Result result;
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            (void)((i == which && (result = std::get<i>(forecasters_)->forecast(series, request_options), true)) ||
                   ...);
        }
        (std::make_index_sequence<count>());
        return result;
    }

    /// The place in `by_cost` of the bucket that serves a request.
    [[nodiscard]] static std::size_t find(const Series& series, const ForecastOptions& request_options) {
        return choose_bucket(by_cost, series, request_options, samples_unless_told);
    }

    /// Bytes that all forecasters hold beside the shared weights.
    [[nodiscard]] std::size_t memory_bytes() const {
        require_memory();
        return std::apply([](const auto&... each) { return (each->memory_bytes() + ...); }, forecasters_);
    }

private:
    /// Throws `Error` (`invalid_argument`) where another one has taken the forecasters.
    void require_memory() const {
        if (!std::get<0>(forecasters_)) {
            forecast_detail::reject_moved_from();
        }
    }

    static constexpr bool samples_unless_told = samples_by_default(by_cost);

    template <std::size_t... i>
    static auto make_all(const WeightsOf<Model>& weights, const ForecasterResources& resources,
                         std::index_sequence<i...>) {
        return std::make_tuple(std::make_unique<Forecaster<Model, by_cost[i], options>>(weights, resources)...);
    }

    using Forecasters = decltype(make_all(std::declval<const WeightsOf<Model>&>(), ForecasterResources{},
                                          std::make_index_sequence<count>()));
    Forecasters forecasters_;
};

/// A bucket set with default options.
template <class Model, Bucket... buckets>
using BucketSet = BasicBucketSet<Model, ForecasterOptions{}, buckets...>;

}  // namespace totograph
