// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/core/exact_math.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>

namespace totograph {

/// The sizes of a request, with the bucket's where the options leave them open.
Bucket request_sizes(const Series& series, const ForecastOptions& options, const Bucket& bucket);

/// Where the values of a series lie. Those on a device are not looked at when a request is checked, nor are those on
/// the host that `check_values` looks at later.
enum class ValuesOn : std::uint8_t { host, host_later, device };

namespace forecast_detail {

[[noreturn]] inline void reject(ErrorCode code, const std::string& message) {
    throw Error(code, "forecast: " + message);
}

/// Checks that a span has as many elements as the extents say, in a way that no extent can overflow.
void check_size(const char* what, std::size_t found, std::initializer_list<Index> extents, const char* axes,
                const char* hint = "");

/// The same of what has rows of steps, which may lie apart.
void check_rows(const char* what, std::size_t found, const Series& series);

inline std::string place(Index series, Index variate, Index step) {
    return "series " + std::to_string(series) + ", variate " + std::to_string(variate) + ", step " +
           std::to_string(step);
}

/// Checks one variate of one series: that its observed values are finite, and that there are any.
/// @param used  how many of the newest steps count
void check_values(const Series& series, Index row, Index used);

/// Checks one variate of one series: that any of its steps is observed.
/// @param used  how many of the newest steps count
void check_any_observed(const Series& series, Index row, Index used);

/// Checks the sizes that a series and a request say they have, apart from any data.
void check_sizes(const Series& series, const Bucket& request);

/// Checks that the known future of the exogenous variates reaches as far as the horizon, and is finite up to there.
void check_future(const Series& series, const Bucket& request);

}  // namespace forecast_detail

/// Checks the newest `used` steps of all variates: that observed values are finite, and that there are any. Throws
/// `Error` (`invalid_series`).
void check_values(const Series& series, Index used);

/// Throws `Error` (`invalid_argument`) for draws that make no sense, such as at a temperature of 0.
void check_draws(const IdDraws& draws);

/// Checks everything about a request but whether a bucket can serve it, once, before anything runs. Of the series the
/// newest `request.context` steps count. Throws `Error`.
void check_request(const Series& series, const Bucket& request, ValuesOn values = ValuesOn::host);

/// Checks group ids against patches, those of the newest `used` steps. Throws `Error`.
void check_groups(const Series& series, Index patch_size, Index used);

/// The part of a request that a bucket forecasts at once: the newest steps, and no more series and samples than it has;
/// with `ForecastOptions::extend`, no more steps ahead.
Bucket piece_of(const Bucket& request, const ForecastOptions& options, const Bucket& bucket);

/// The sizes of a request, with as much context as the bucket lets it use.
Bucket used_sizes(const Series& series, const ForecastOptions& options, const Bucket& bucket);

/// Whether a request is sampled and a bucket is not, or the other way round: less of it fits neither.
inline bool is_other_kind(const Bucket& request, const Bucket& bucket) {
    return (request.samples > 0) != (bucket.samples > 0);
}

/// What to do about a request that no bucket is of the kind of.
std::string advice_on_samples(const Bucket& request);

/// Checks that a bucket can forecast a request, in one piece or in several. Throws `Error` (`no_bucket`).
void check_fit(const Bucket& request, const ForecastOptions& options, const Bucket& bucket);

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/impl/request.hpp>
#endif
