// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/bucket_choice.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/io/text.hpp>

namespace totograph {
namespace forecast_detail {

TOTOGRAPH_INLINE void reject_request(std::span<const Bucket> buckets, const Series& series,
                                     const ForecastOptions& options, bool must_sample, std::string_view owner) {
    if (options.samples.value_or(0) < 0) {  // else it would be told as a missing bucket
        reject(ErrorCode::invalid_argument,
               "the number of samples should be 0 or more, found " + std::to_string(*options.samples) + ".");
    }
    std::string list;
    for (const Bucket& bucket : buckets) {
        list += (list.empty() ? "" : "; ") + to_string(bucket);
    }
    const Bucket request = request_sizes(series, options, Bucket{});
    const bool is_other = options.samples && std::all_of(buckets.begin(), buckets.end(), [&](const Bucket& bucket) {
                              return is_other_kind(request, bucket);
                          });
    throw Error(ErrorCode::no_bucket,
                "forecast: no compiled size " + (owner.empty() ? "" : "of " + io::in_quotes(owner) + " ") +
                    "holds a request of " + std::to_string(request.batch) + " x " + std::to_string(request.variates) +
                    " x " + std::to_string(request.context) +
                    (options.horizon ? " -> " + std::to_string(request.horizon) : "") +
                    (must_sample            ? ", sampled (ask for samples = 0 to have the mean)"
                     : !options.samples     ? ""
                     : request.samples == 0 ? ", no samples"
                                            : ", " + std::to_string(request.samples) + " samples") +
                    "; the compiled sizes are: " + list + ". " +
                    (is_other ? advice_on_samples(request) : "Ask for less, or compile a larger one.") +
                    (is_beyond_horizon(buckets, request)
                         ? " ForecastOptions::extend goes on from the medians where the horizon ends."
                         : ""));
}

}  // namespace forecast_detail

TOTOGRAPH_INLINE std::size_t choose_bucket(std::span<const Bucket> buckets, const Series& series,
                                           const ForecastOptions& options, bool samples_by_default,
                                           std::string_view owner) {
    const bool must_sample = samples_by_default && !options.samples;
    std::size_t best = buckets.size();
    forecast_detail::PartsCost least{};
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        const Bucket request = request_sizes(series, options, buckets[i]);
        const bool is_of_the_kind = !must_sample || buckets[i].samples > 0;
        if (is_of_the_kind && buckets[i].holds(request)) {
            return i;
        }
        if (is_of_the_kind && buckets[i].holds(piece_of(request, options, buckets[i]))) {
            const forecast_detail::PartsCost cost = forecast_detail::cost_in_parts(request, buckets[i]);
            if (best == buckets.size() || cost < least) {
                best = i;
                least = cost;
            }
        }
    }
    if (best < buckets.size()) {
        return best;
    }
    forecast_detail::reject_request(buckets, series, options, must_sample, owner);
}

}  // namespace totograph
