// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <span>
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/series.hpp>

// Which of several buckets serves a request.
namespace totograph {

/// Rows that pass through the layers, the measure of a forecast's work.
template <class Model>
constexpr Index bucket_cost(const Bucket& bucket) {
    static_assert(check_family<Model>());
    return FamilyOf<Model>::rows(bucket);
}

namespace forecast_detail {

template <class Model>
constexpr bool costs_less(const Bucket& a, const Bucket& b) {
    return bucket_cost<Model>(a) < bucket_cost<Model>(b);
}

}  // namespace forecast_detail

/// Buckets in the order in which they are tried: the cheapest first, and among equally cheap ones the one that is named
/// first.
template <class Model, Bucket... buckets>
inline constexpr std::array<Bucket, sizeof...(buckets)> buckets_by_cost = [] {
    std::array<Bucket, sizeof...(buckets)> sorted{buckets...};
    // By insertion: std::sort does not promise to keep the order of equals.
    for (auto next = sorted.begin(); next != sorted.end(); ++next) {
        std::rotate(std::upper_bound(sorted.begin(), next, *next, forecast_detail::costs_less<Model>), next, next + 1);
    }
    return sorted;
}();

/// Whether requests that do not say how many samples they want are sampled: if any bucket is, for this must not depend
/// on the sizes of a request.
constexpr bool samples_by_default(std::span<const Bucket> buckets) {
    return std::any_of(buckets.begin(), buckets.end(), [](const Bucket& bucket) { return bucket.samples > 0; });
}

namespace forecast_detail {

/// How well a bucket serves a request in parts; the first of these that differs decides.
struct PartsCost {
    Index chunks;   ///< That an extended horizon takes, of whole horizons: a patch more or less does not decide.
    Index dropped;  ///< Steps of context that do not fit.
    double runs;    ///< Of a chunk: parts of the batch and of the samples.

    friend constexpr auto operator<=>(const PartsCost&, const PartsCost&) = default;  // NOLINT(modernize-use-nullptr)
};

/// Of a request that nobody has checked: no number of it may overflow.
constexpr PartsCost cost_in_parts(const Bucket& request, const Bucket& bucket) {
    const auto parts = [](Index all, Index most) { return all / most + (all % most > 0 ? 1 : 0); };
    return {
        .chunks = parts(request.horizon, bucket.horizon),
        .dropped = std::max(request.context, bucket.context) - bucket.context,
        .runs = static_cast<double>(parts(request.batch, bucket.batch)) *
                static_cast<double>(parts(std::max<Index>(1, request.samples), std::max<Index>(1, bucket.samples)))};
}

/// Whether the horizon alone keeps a request from every bucket.
inline bool is_beyond_horizon(std::span<const Bucket> buckets, const Bucket& request) {
    return std::all_of(buckets.begin(), buckets.end(),
                       [&](const Bucket& bucket) { return bucket.horizon < request.horizon; });
}

[[noreturn]] void reject_request(std::span<const Bucket> buckets, const Series& series, const ForecastOptions& options,
                                 bool must_sample, std::string_view owner);

}  // namespace forecast_detail

/// The place in `buckets`, the cheapest first, of the one that serves a request; `samples_by_default` says whether a
/// request that leaves it open is sampled. An absent horizon or number of samples is the bucket's. The first that holds
/// the request; where none does, of those that forecast it in parts (`forecast_in_parts`) the one that extends the
/// horizon least often, then uses most of the context, then takes the fewest runs. Allocates nothing. Throws `Error`
/// (`no_bucket`) listing the buckets when none can; `owner` tells whose they are.
std::size_t choose_bucket(std::span<const Bucket> buckets, const Series& series, const ForecastOptions& options,
                          bool samples_by_default, std::string_view owner = {});

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/impl/bucket_choice.hpp>
#endif
