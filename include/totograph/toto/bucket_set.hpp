// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <totograph/core/bucket.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/forecast.hpp>
#include <totograph/core/series.hpp>
#include <totograph/toto/forecaster.hpp>
#include <totograph/toto/resources.hpp>

namespace totograph {

/// Several buckets behind one object: a request goes to the cheapest bucket that holds it. One thread at a time may use
/// a set; its forecasters share their threads.
///
/// Whether a forecast is sampled does not depend on the sizes of a request. `ForecastOptions::samples` says it; where
/// that is absent, a set with any sampled bucket samples (as many futures as the chosen bucket has), and one of mean
/// buckets alone gives the mean. An absent horizon is the chosen bucket's.
template <toto::Toto1Model Model, ForecasterOptions options, Bucket... buckets>
class BasicBucketSet {
    static_assert(sizeof...(buckets) > 0, "totograph: a bucket set needs at least one bucket.");

    /// Rows that pass through the layers, the measure of a forecast's work.
    static constexpr Index cost(const Bucket& bucket) {
        const toto::ForecastSizes sizes(Model::config, bucket);
        return sizes.batch * sizes.variates * (sizes.context_patches + sizes.samples * sizes.steps);
    }

    static constexpr bool is_cheaper(const Bucket& a, const Bucket& b) { return cost(a) < cost(b); }

public:
    /// How many buckets there are.
    static constexpr std::size_t count = sizeof...(buckets);

    /// The buckets, cheapest first.
    static constexpr std::array<Bucket, count> by_cost = [] {
        std::array<Bucket, count> sorted{buckets...};
        std::sort(sorted.begin(), sorted.end(), is_cheaper);
        return sorted;
    }();

    /// Makes a forecaster for each bucket, and one team of threads for all. Throws `Error` (`invalid_argument`) when
    /// the number of threads is negative.
    explicit BasicBucketSet(const toto::ModelWeights<Model>& weights, const ForecasterResources& resources = {})
        : forecasters_(make_all(weights, {.threads = resources.threads, .pool = thread_pool_of(resources)},
                                std::make_index_sequence<count>())) {}

    /// Forecasts with the cheapest bucket that holds the request; the result is valid until the next forecast.
    /// Throws `Error` (`no_bucket`) listing the buckets when none does.
    Forecast forecast(const Series& series, const ForecastOptions& request_options = {}) {
        const std::size_t which = find(series, request_options);
        Forecast result;
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            (void)((i == which && (result = std::get<i>(forecasters_)->forecast(series, request_options), true)) ||
                   ...);
        }
        (std::make_index_sequence<count>());
        return result;
    }

    /// The place in `by_cost` of the bucket that serves a request.
    [[nodiscard]] static std::size_t find(const Series& series, const ForecastOptions& request_options) {
        const bool must_sample = samples_by_default && !request_options.samples;
        for (std::size_t i = 0; i < count; ++i) {
            if (must_sample && by_cost[i].samples == 0) {
                continue;
            }
            if (by_cost[i].holds(toto::request_sizes(series, request_options, by_cost[i]))) {
                return i;
            }
        }
        std::string list;
        for (const Bucket& bucket : by_cost) {
            list += (list.empty() ? "" : "; ") + to_string(bucket);
        }
        const Bucket request = toto::request_sizes(series, request_options, Bucket{});
        throw Error(ErrorCode::no_bucket,
                    "forecast: no bucket holds a request of " + std::to_string(request.batch) + " x " +
                        std::to_string(request.variates) + " x " + std::to_string(request.context) +
                        (request_options.horizon ? " -> " + std::to_string(request.horizon) : "") +
                        (must_sample                ? ", sampled (ask for samples = 0 to have the mean)"
                         : !request_options.samples ? ""
                         : request.samples == 0     ? ", mean"
                                                    : ", " + std::to_string(request.samples) + " samples") +
                        "; the buckets are: " + list + ". Ask for less, or compile a larger bucket.");
    }

    /// Bytes that all forecasters hold beside the shared weights.
    [[nodiscard]] std::size_t memory_bytes() const {
        return std::apply([](const auto&... each) { return (each->memory_bytes() + ...); }, forecasters_);
    }

private:
    static constexpr bool samples_by_default = ((buckets.samples > 0) || ...);

    template <std::size_t... i>
    static auto make_all(const toto::ModelWeights<Model>& weights, const ForecasterResources& resources,
                         std::index_sequence<i...>) {
        return std::make_tuple(std::make_unique<Forecaster<Model, by_cost[i], options>>(weights, resources)...);
    }

    using Forecasters = decltype(make_all(std::declval<const toto::ModelWeights<Model>&>(), ForecasterResources{},
                                          std::make_index_sequence<count>()));
    Forecasters forecasters_;
};

/// A bucket set with default options.
template <toto::Toto1Model Model, Bucket... buckets>
using BucketSet = BasicBucketSet<Model, ForecasterOptions{}, buckets...>;

}  // namespace totograph
