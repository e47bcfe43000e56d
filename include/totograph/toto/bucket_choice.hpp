// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <totograph/core/bucket.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/series.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/text.hpp>
#include <totograph/toto/config.hpp>
#include <totograph/toto/forecast_sizes.hpp>
#include <totograph/toto/request.hpp>

// Which of several buckets serves a request.
namespace totograph::toto {

/// Rows that pass through the layers, the measure of a forecast's work.
template <Toto1Model Model>
constexpr Index bucket_cost(const Bucket& bucket) {
    const ForecastSizes sizes(Model::config, bucket);
    return sizes.batch * sizes.variates * (sizes.context_patches + sizes.samples * sizes.steps);
}

namespace detail {

template <Toto1Model Model>
constexpr bool costs_less(const Bucket& a, const Bucket& b) {
    return bucket_cost<Model>(a) < bucket_cost<Model>(b);
}

}  // namespace detail

/// Buckets in the order in which they are tried: the cheapest first, and among equally cheap ones the one that is named
/// first.
template <Toto1Model Model, Bucket... buckets>
inline constexpr std::array<Bucket, sizeof...(buckets)> buckets_by_cost = [] {
    std::array<Bucket, sizeof...(buckets)> sorted{buckets...};
    // By insertion: std::sort does not promise to keep the order of equals.
    for (auto next = sorted.begin(); next != sorted.end(); ++next) {
        std::rotate(std::upper_bound(sorted.begin(), next, *next, detail::costs_less<Model>), next, next + 1);
    }
    return sorted;
}();

/// Whether requests that do not say how many samples they want are sampled: if any bucket is, for this must not depend
/// on the sizes of a request.
constexpr bool samples_by_default(std::span<const Bucket> buckets) {
    return std::any_of(buckets.begin(), buckets.end(), [](const Bucket& bucket) { return bucket.samples > 0; });
}

namespace detail {

[[noreturn]] inline void reject_request(std::span<const Bucket> buckets, const Series& series,
                                        const ForecastOptions& options, bool must_sample, std::string_view owner) {
    std::string list;
    for (const Bucket& bucket : buckets) {
        list += (list.empty() ? "" : "; ") + to_string(bucket);
    }
    const Bucket request = request_sizes(series, options, Bucket{});
    throw Error(ErrorCode::no_bucket,
                "forecast: no bucket " + (owner.empty() ? "" : "of " + io::in_quotes(owner) + " ") +
                    "holds a request of " + std::to_string(request.batch) + " x " + std::to_string(request.variates) +
                    " x " + std::to_string(request.context) +
                    (options.horizon ? " -> " + std::to_string(request.horizon) : "") +
                    (must_sample            ? ", sampled (ask for samples = 0 to have the mean)"
                     : !options.samples     ? ""
                     : request.samples == 0 ? ", mean"
                                            : ", " + std::to_string(request.samples) + " samples") +
                    "; the buckets are: " + list + ". Ask for less, or compile a larger bucket.");
}

}  // namespace detail

/// The place in `buckets`, the cheapest first, of the first one that holds a request; `samples_by_default` says whether
/// a request that leaves it open is sampled. An absent horizon or number of samples is the bucket's. Allocates nothing.
/// Throws `Error` (`no_bucket`) listing the buckets when none holds the request; `owner` tells whose they are.
inline std::size_t choose_bucket(std::span<const Bucket> buckets, const Series& series, const ForecastOptions& options,
                                 bool samples_by_default, std::string_view owner = {}) {
    const bool must_sample = samples_by_default && !options.samples;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        const bool is_of_the_kind = !must_sample || buckets[i].samples > 0;
        if (is_of_the_kind && buckets[i].holds(request_sizes(series, options, buckets[i]))) {
            return i;
        }
    }
    detail::reject_request(buckets, series, options, must_sample, owner);
}

}  // namespace totograph::toto
