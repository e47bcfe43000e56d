// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <totograph/c/totograph.h>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/series.hpp>

namespace totograph::package {

/// A series as the C interface describes it: the same memory, nothing is copied. Checks that the spans hold what the
/// sizes say, for pointers do not tell; all else the package checks. Throws `Error(invalid_argument)`, also for what
/// the C interface cannot say: groups by step.
inline totograph_series c_series(const Series& series, const ForecastOptions& options, const Bucket& bucket,
                                 ValuesOn values = ValuesOn::host) {
    const Bucket request = request_sizes(series, options, bucket);
    forecast_detail::check_sizes(series, request);
    if (values == ValuesOn::host) {
        forecast_detail::check_rows("values", series.values.size(), series);
    }
    if (!series.observed.empty()) {
        forecast_detail::check_rows("observed", series.observed.size(), series);
    }
    if (series.has_groups_by_step()) {
        forecast_detail::reject(ErrorCode::invalid_argument,
                                "a package takes an id for each variate and none for each step; use a model that is "
                                "compiled in, or groups that do not change.");
    }
    const Index known = series.future_steps == 0 ? request.horizon : series.future_steps;
    if (!series.future_exogenous.empty()) {
        forecast_detail::check_size("future_exogenous", series.future_exogenous.size(),
                                    {series.batch, series.exogenous, known}, "[batch, exogenous, future_steps]");
    }
    if (!series.future_observed.empty() && series.future_observed.size() != series.future_exogenous.size()) {
        forecast_detail::reject(ErrorCode::invalid_argument,
                                "future_observed should hold as many elements as future_exogenous.");
    }
    const auto at_first_row = [&](const auto& elements) {
        return elements.empty() ? nullptr : elements.data() + series.offset;
    };
    const Index stride = series.row_stride();
    return {.size = sizeof(totograph_series),
            .batch = series.batch,
            .variates = series.variates,
            .steps = series.steps,
            .values = at_first_row(series.values),
            .values_strides = {series.variates * stride, stride, 1},
            .observed = at_first_row(series.observed),
            .observed_strides = {series.variates * stride, stride, 1},
            .groups = series.groups.empty() ? nullptr : series.groups.data(),
            .exogenous = series.exogenous,
            .future_exogenous = series.future_exogenous.empty() ? nullptr : series.future_exogenous.data(),
            .future_observed = series.future_observed.empty() ? nullptr : series.future_observed.data(),
            .future_steps = series.future_exogenous.empty() ? 0 : known,
            .first_series = series.first_series,
            .nan_is_gap = 0};
}

/// The same of a series in the memory of a device.
inline totograph_series c_series(const cuda::DeviceSeries& series, const ForecastOptions& options,
                                 const Bucket& bucket) {
    totograph_series result = c_series(series.series, options, bucket, ValuesOn::device);
    result.values = series.values;
    const auto strides = series.element_strides();
    std::copy(strides.begin(), strides.end(), result.values_strides);
    result.nan_is_gap = series.nan_is_gap ? 1 : 0;
    return result;
}

/// What a caller asks for, as the C interface has it.
inline totograph_request c_request(const ForecastOptions& options) {
    return {.size = sizeof(totograph_request),
            .horizon = options.horizon.value_or(0),
            .samples = !options.samples        ? 0
                       : *options.samples == 0 ? TOTOGRAPH_MEAN
                                               : *options.samples,
            .seed = options.seed,
            .first_sample = options.first_sample,
            .refuse_long_context = options.context == ContextPolicy::error ? 1 : 0,
            .extend = options.extend ? 1 : 0,
            .reserved = 0};
}

}  // namespace totograph::package
