// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/request.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/core/finite.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>

namespace totograph {

TOTOGRAPH_INLINE Bucket request_sizes(const Series& series, const ForecastOptions& options, const Bucket& bucket) {
    return {.batch = series.batch,
            .variates = series.variates,
            .context = series.steps,
            .horizon = options.horizon.value_or(bucket.horizon),
            .samples = options.samples.value_or(bucket.samples),
            .exogenous = series.future_exogenous.empty() ? 0 : series.exogenous};
}

namespace forecast_detail {

TOTOGRAPH_INLINE void check_size(const char* what, std::size_t found, std::initializer_list<Index> extents,
                                 const char* axes, const char* hint) {
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
                                                "] elements, found " + std::to_string(found) + "." + hint);
    }
}

TOTOGRAPH_INLINE void check_rows(const char* what, std::size_t found, const Series& series) {
    if (series.stride == 0 && series.offset == 0) {
        check_size(what, found, {series.batch, series.variates, series.steps}, "[batch, variates, steps]",
                   " Cut the span to these, or say by Series::stride and offset where rows lie in it.");
        return;
    }
    // In an order in which nothing overflows: rows that fit into the memory that there is are not many.
    const auto size = static_cast<Index>(found);
    const bool fits = series.steps <= size && series.offset <= size - series.steps && series.batch <= size &&
                      series.variates <= size / series.batch &&
                      series.rows() - 1 <= (size - series.steps - series.offset) / series.row_stride();
    if (!fits) {
        reject(ErrorCode::invalid_argument,
               std::string(what) + " should hold [batch, variates, steps] = [" + std::to_string(series.batch) + ", " +
                   std::to_string(series.variates) + ", " + std::to_string(series.steps) + "] elements, with rows " +
                   std::to_string(series.row_stride()) + " elements apart from element " +
                   std::to_string(series.offset) + " on, but it ends before: found " + std::to_string(found) + ".");
    }
}

[[noreturn]] inline void reject_unseen(const Series& series, Index row, Index used) {
    reject(ErrorCode::invalid_series,
           "series " + std::to_string(row / series.variates) + ", variate " + std::to_string(row % series.variates) +
               " has no observed value " +
               (used == series.steps ? std::string("at all")
                                     : "in its newest " + std::to_string(used) + " steps, as many as are used") +
               "; leave it out.");
}

TOTOGRAPH_INLINE void check_values(const Series& series, Index row, Index used) {
    const Index dropped = series.steps - used;
    const auto first = static_cast<std::size_t>(series.row_begin(row) + dropped);
    const auto count = static_cast<std::size_t>(used);
    const auto values = series.values.subspan(first, count);
    const auto marks = series.observed.empty() ? series.observed : series.observed.subspan(first, count);
    if (!has_gap(marks) && all_finite(values)) {
        return;
    }
    bool seen = marks.empty();
    for (std::size_t at = 0; at < count; ++at) {
        const bool is_observed = marks.empty() || marks[at] != 0;
        seen = seen || is_observed;
        if (is_observed && !std::isfinite(values[at])) {
            reject(ErrorCode::invalid_series,
                   place(row / series.variates, row % series.variates, dropped + static_cast<Index>(at)) +
                       " holds NaN or infinity; mark gaps as not observed instead (Series::observed).");
        }
    }
    if (!seen) {
        reject_unseen(series, row, used);
    }
}

TOTOGRAPH_INLINE void check_any_observed(const Series& series, Index row, Index used) {
    const auto* const end = series.observed.data() + series.row_begin(row) + series.steps;
    if (std::none_of(end - used, end, [](std::uint8_t mark) { return mark != 0; })) {
        reject_unseen(series, row, used);
    }
}

TOTOGRAPH_INLINE void check_sizes(const Series& series, const Bucket& request) {
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
    if (series.stride < 0 || series.offset < 0 || series.future_steps < 0) {
        reject(ErrorCode::invalid_argument,
               "the stride, the offset and the future steps of a series should not be negative, found " +
                   std::to_string(series.stride) + ", " + std::to_string(series.offset) + " and " +
                   std::to_string(series.future_steps) + ".");
    }
}

TOTOGRAPH_INLINE void check_future(const Series& series, const Bucket& request) {
    const bool is_horizon = series.future_steps == 0;
    const Index known = is_horizon ? request.horizon : series.future_steps;
    if (known < request.horizon) {
        reject(ErrorCode::invalid_argument, "the future of the exogenous variates is known for " +
                                                std::to_string(known) + " steps (Series::future_steps), but " +
                                                std::to_string(request.horizon) +
                                                " are to be forecast; ask for a shorter horizon.");
    }
    check_size("future_exogenous", series.future_exogenous.size(), {series.batch, series.exogenous, known},
               is_horizon ? "[batch, exogenous, horizon]" : "[batch, exogenous, future_steps]",
               is_horizon ? " Series::future_steps says that more steps are known." : "");
    const bool has_gaps = !series.future_observed.empty();
    for (Index row = 0; row < series.batch * series.exogenous; ++row) {
        for (Index at = row * known; at < row * known + request.horizon; ++at) {
            const auto place = static_cast<std::size_t>(at);
            if (!std::isfinite(series.future_exogenous[place]) &&
                (!has_gaps || (place < series.future_observed.size() && series.future_observed[place] != 0))) {
                reject(ErrorCode::invalid_series, "future_exogenous holds NaN or infinity at element " +
                                                      std::to_string(at) +
                                                      (has_gaps ? ", which Series::future_observed says is known."
                                                                : "; a known future has no gaps."));
            }
        }
    }
}

}  // namespace forecast_detail

TOTOGRAPH_INLINE void check_draws(const IdDraws& draws) {
    using forecast_detail::reject;
    if (!(draws.temperature > 0 && std::isfinite(draws.temperature))) {
        reject(ErrorCode::invalid_argument, "the temperature of draws should be above 0, found " +
                                                std::to_string(draws.temperature) +
                                                "; for the likeliest id alone take top_k = 1.");
    }
    if (draws.filter.top_k < 0 || !(draws.filter.top_p > 0 && draws.filter.top_p <= 1)) {
        reject(ErrorCode::invalid_argument,
               "of draws, top_k should be 0 or more and top_p above 0 and at most 1, found " +
                   std::to_string(draws.filter.top_k) + " and " + std::to_string(draws.filter.top_p) + ".");
    }
}

TOTOGRAPH_INLINE void check_values(const Series& series, Index used) {
    for (Index row = 0; row < series.rows(); ++row) {
        forecast_detail::check_values(series, row, used);
    }
}

TOTOGRAPH_INLINE void check_request(const Series& series, const Bucket& request, ValuesOn values) {
    using forecast_detail::reject;
    forecast_detail::check_sizes(series, request);
    check_draws(series.draws);
    if (values != ValuesOn::device) {
        forecast_detail::check_rows("values", series.values.size(), series);
    }
    if (!series.observed.empty()) {
        forecast_detail::check_rows("observed", series.observed.size(), series);
    }
    if (series.exogenous < 0 || series.exogenous >= series.variates) {
        reject(ErrorCode::invalid_argument, "of " + std::to_string(series.variates) + " variates, " +
                                                std::to_string(series.exogenous) +
                                                " cannot be exogenous; at least one is to be forecast.");
    }
    if (!series.future_exogenous.empty()) {
        forecast_detail::check_future(series, request);
    }
    if (!series.future_observed.empty() && series.future_observed.size() != series.future_exogenous.size()) {
        reject(ErrorCode::invalid_argument, "future_observed should hold as many elements as future_exogenous, " +
                                                std::to_string(series.future_exogenous.size()) + ", found " +
                                                std::to_string(series.future_observed.size()) + ".");
    }
    if (values == ValuesOn::host) {
        check_values(series, request.context);
    }
    for (Index row = 0; row < series.rows() && values == ValuesOn::device && !series.observed.empty(); ++row) {
        forecast_detail::check_any_observed(series, row, request.context);
    }
}

TOTOGRAPH_INLINE void check_groups(const Series& series, Index patch_size, Index used) {
    using forecast_detail::reject;
    if (series.groups.empty()) {
        return;
    }
    const Index rows = series.rows();
    const bool is_compact = series.stride == 0 && series.offset == 0;
    const bool per_step = series.has_groups_by_step() &&
                          (!is_compact || series.groups.size() == static_cast<std::size_t>(rows * series.steps));
    if (!per_step) {
        forecast_detail::check_size("groups", series.groups.size(), {series.batch, series.variates},
                                    "[batch, variates] or [batch, variates, steps]");
    } else {
        forecast_detail::check_rows("groups", series.groups.size(), series);
    }
    const Index dropped = series.steps - used;
    const Index in_row = per_step ? used : 1;
    const Index padding = round_up(used, patch_size) - used;
    for (Index row = 0; row < rows; ++row) {
        const auto* const ids = series.groups.data() + (per_step ? series.row_begin(row) + dropped : row);
        for (Index step = 0; step < in_row; ++step) {
            if (ids[step] < 0) {
                reject(ErrorCode::invalid_argument,
                       "group ids should not be negative, found " + std::to_string(ids[step]) + ".");
            }
            if (step > 0 && (padding + step) % patch_size != 0 && ids[step] != ids[step - 1]) {
                reject(ErrorCode::invalid_argument,
                       "the group id changes inside a patch at " +
                           forecast_detail::place(row / series.variates, row % series.variates, dropped + step) +
                           "; patches of " + std::to_string(patch_size) +
                           " steps are counted back from the newest step, and a patch belongs to one group.");
            }
        }
    }
}

TOTOGRAPH_INLINE Bucket piece_of(const Bucket& request, const ForecastOptions& options, const Bucket& bucket) {
    Bucket piece = request;
    const bool has_samples = request.samples > 0 && bucket.samples > 0;
    piece.batch = std::min(request.batch, bucket.batch);
    piece.samples = has_samples ? std::min(request.samples, bucket.samples) : request.samples;
    piece.context =
        options.context == ContextPolicy::newest ? std::min(request.context, bucket.context) : request.context;
    piece.horizon = options.extend ? std::min(request.horizon, bucket.horizon) : request.horizon;
    return piece;
}

TOTOGRAPH_INLINE Bucket used_sizes(const Series& series, const ForecastOptions& options, const Bucket& bucket) {
    Bucket request = request_sizes(series, options, bucket);
    request.context = piece_of(request, options, bucket).context;
    return request;
}

TOTOGRAPH_INLINE std::string advice_on_samples(const Bucket& request) {
    return std::string("Leave ForecastOptions::samples open, or compile a size ") +
           (request.samples > 0 ? "with samples, if the model draws any." : "without samples, which gives means.");
}

TOTOGRAPH_INLINE void check_fit(const Bucket& request, const ForecastOptions& options, const Bucket& bucket) {
    const Bucket piece = piece_of(request, options, bucket);
    if (piece.context > bucket.context) {
        throw Error(ErrorCode::no_bucket, "forecast: a context of " + std::to_string(request.context) +
                                              " steps does not fit the compiled " + std::to_string(bucket.context) +
                                              "; let its newest steps be used (ContextPolicy::newest), or compile a "
                                              "larger size.");
    }
    if (piece.horizon > bucket.horizon) {
        throw Error(ErrorCode::no_bucket, "forecast: a horizon of " + std::to_string(request.horizon) +
                                              " steps is beyond the compiled " + std::to_string(bucket.horizon) +
                                              "; ask for less, let it go on from the medians "
                                              "(ForecastOptions::extend), or compile a larger size.");
    }
    if (is_other_kind(request, bucket)) {
        throw Error(ErrorCode::no_bucket, "forecast: a request of " + to_string(request) +
                                              " does not fit the compiled size " + to_string(bucket) + ". " +
                                              advice_on_samples(request));
    }
    if (!bucket.holds(piece)) {
        throw Error(ErrorCode::no_bucket, "forecast: a request of " + to_string(request) +
                                              " does not fit the compiled size " + to_string(bucket) +
                                              "; ask for less, or compile a larger size.");
    }
}

}  // namespace totograph
