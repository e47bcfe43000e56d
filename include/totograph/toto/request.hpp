// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include <totograph/core/bucket.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/exact_math.hpp>
#include <totograph/core/series.hpp>
#include <totograph/core/shape.hpp>

namespace totograph::toto {

/// The sizes of a request, with the bucket's where the options leave them open.
inline Bucket request_sizes(const Series& series, const ForecastOptions& options, const Bucket& bucket) {
    return {.batch = series.batch,
            .variates = series.variates,
            .context = series.steps,
            .horizon = options.horizon.value_or(bucket.horizon),
            .samples = options.samples.value_or(bucket.samples),
            .exogenous = series.future_exogenous.empty() ? 0 : series.exogenous};
}

namespace detail {

[[noreturn]] inline void reject(ErrorCode code, const std::string& message) {
    throw Error(code, "forecast: " + message);
}

/// Checks that a span has as many elements as the extents say, in a way that no extent can overflow.
inline void check_size(const char* what, std::size_t found, std::initializer_list<Index> extents, const char* axes) {
    auto left = static_cast<Index>(found);
    bool fits = true;
    for (const Index extent : extents) {
        fits = fits && extent > 0 && left % extent == 0;
        left = fits ? left / extent : 0;
    }
    if (!fits || left != 1) {
        std::string shape;  // not before, for a request that fits must not allocate
        for (const Index extent : extents) {
            shape += (shape.empty() ? "[" : ", ") + std::to_string(extent);
        }
        reject(ErrorCode::invalid_argument, std::string(what) + " should hold " + axes + " = " + shape +
                                                "] elements, found " + std::to_string(found) + ".");
    }
}

inline std::string place(Index series, Index variate, Index step) {
    return "series " + std::to_string(series) + ", variate " + std::to_string(variate) + ", step " +
           std::to_string(step);
}

/// Checks one variate of one series: that its observed values are finite, and that there are any.
inline void check_values(const Series& series, Index row) {
    const auto first = static_cast<std::size_t>(row * series.steps);
    const auto steps = static_cast<std::size_t>(series.steps);
    const auto is_observed = [&](std::size_t at) { return series.observed.empty() || series.observed[at] != 0; };
    // One look at all, without a branch in it: of infinities and NaNs all bits of the exponent are set, and one more
    // carries into the sign.
    constexpr std::uint32_t exponent = 0x7f800000U;
    constexpr std::uint32_t lowest = 0x00800000U;
    constexpr std::uint32_t sign = 0x80000000U;
    const auto carried = [&](std::size_t at) {
        return (std::bit_cast<std::uint32_t>(series.values[at]) & exponent) + lowest;
    };
    std::uint32_t any = 0;
    bool seen = series.observed.empty();
    if (series.observed.empty()) {
        for (std::size_t at = first; at < first + steps; ++at) {
            any |= carried(at);
        }
    } else {
        for (std::size_t at = first; at < first + steps; ++at) {
            seen |= is_observed(at);
            any |= is_observed(at) ? carried(at) : 0U;
        }
    }
    const Index batch = row / series.variates;
    const Index variate = row % series.variates;
    for (std::size_t at = first; (any & sign) != 0 && at < first + steps; ++at) {
        if (is_observed(at) && !std::isfinite(series.values[at])) {
            reject(ErrorCode::invalid_series,
                   place(batch, variate, static_cast<Index>(at - first)) +
                       " holds NaN or infinity; mark gaps as not observed instead (Series::observed).");
        }
    }
    if (!seen) {
        reject(ErrorCode::invalid_series, "series " + std::to_string(batch) + ", variate " + std::to_string(variate) +
                                              " has no observed value at all; leave it out.");
    }
}

}  // namespace detail

/// Checks everything about a request that does not depend on the bucket, once, before anything runs. Throws `Error`.
inline void check_request(const Series& series, const Bucket& request) {
    using detail::reject;
    if (series.batch < 1 || series.variates < 1) {
        reject(ErrorCode::invalid_argument, "a series needs a batch and variates of at least 1, found batch " +
                                                std::to_string(series.batch) + " and " +
                                                std::to_string(series.variates) + " variates.");
    }
    if (series.steps < 1) {
        reject(ErrorCode::invalid_series, "the series is empty; give at least one step of history.");
    }
    if (request.horizon < 1) {
        reject(ErrorCode::invalid_argument,
               "the horizon should be at least 1 step, found " + std::to_string(request.horizon) + ".");
    }
    if (request.samples < 0) {
        reject(ErrorCode::invalid_argument,
               "the number of samples should be 0 or more, found " + std::to_string(request.samples) + ".");
    }
    const auto sizes = {series.batch, series.variates, series.steps};
    detail::check_size("values", series.values.size(), sizes, "[batch, variates, steps]");
    if (!series.observed.empty()) {
        detail::check_size("observed", series.observed.size(), sizes, "[batch, variates, steps]");
    }
    if (series.exogenous < 0 || series.exogenous >= series.variates) {
        reject(ErrorCode::invalid_argument, "of " + std::to_string(series.variates) + " variates, " +
                                                std::to_string(series.exogenous) +
                                                " cannot be exogenous; at least one is to be forecast.");
    }
    if (!series.future_exogenous.empty()) {
        detail::check_size("future_exogenous", series.future_exogenous.size(),
                           {series.batch, series.exogenous, request.horizon}, "[batch, exogenous, horizon]");
        for (std::size_t i = 0; i < series.future_exogenous.size(); ++i) {
            if (!std::isfinite(series.future_exogenous[i])) {
                reject(ErrorCode::invalid_series, "future_exogenous holds NaN or infinity at element " +
                                                      std::to_string(i) + "; a known future has no gaps.");
            }
        }
    }
    for (Index row = 0; row < series.batch * series.variates; ++row) {
        detail::check_values(series, row);
    }
}

/// Checks group ids against patches. Throws `Error`.
inline void check_groups(const Series& series, Index patch_size) {
    using detail::reject;
    if (series.groups.empty()) {
        return;
    }
    const Index rows = series.batch * series.variates;
    const bool per_step = series.groups.size() == static_cast<std::size_t>(rows * series.steps) && series.steps != 1;
    if (!per_step) {
        detail::check_size("groups", series.groups.size(), {series.batch, series.variates},
                           "[batch, variates] or [batch, variates, steps]");
    }
    for (const std::int32_t id : series.groups) {
        if (id < 0) {
            reject(ErrorCode::invalid_argument, "group ids should not be negative, found " + std::to_string(id) + ".");
        }
    }
    const Index padding = round_up(series.steps, patch_size) - series.steps;
    for (Index row = 0; per_step && row < rows; ++row) {
        for (Index step = 1; step < series.steps; ++step) {
            const auto at = static_cast<std::size_t>(row * series.steps + step);
            if ((padding + step) % patch_size != 0 && series.groups[at] != series.groups[at - 1]) {
                reject(ErrorCode::invalid_argument,
                       "the group id changes inside a patch at " +
                           detail::place(row / series.variates, row % series.variates, step) + "; patches of " +
                           std::to_string(patch_size) +
                           " steps are counted back from the newest step, and a patch belongs to one group.");
            }
        }
    }
}

/// Checks that a request fits a bucket. Throws `Error` (`no_bucket`).
inline void check_fit(const Bucket& request, const Bucket& bucket) {
    if (request.context > bucket.context) {
        throw Error(ErrorCode::no_bucket, "forecast: a context of " + std::to_string(request.context) +
                                              " steps does not fit this bucket's " + std::to_string(bucket.context) +
                                              "; give its newest steps, or compile a larger bucket.");
    }
    if (!bucket.holds(request)) {
        throw Error(ErrorCode::no_bucket, "forecast: a request of " + to_string(request) + " does not fit the bucket " +
                                              to_string(bucket) + "; ask for less, or compile a larger bucket.");
    }
}

}  // namespace totograph::toto
