// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/request_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/core/machine_memory.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/series.hpp>

namespace totograph {

TOTOGRAPH_INLINE Bucket check_for(const Series& series, const ForecastOptions& options, const Bucket& bucket,
                                  Index patch_size, ValuesOn values) {
    const Bucket request = used_sizes(series, options, bucket);
    check_request(series, request, values);
    check_groups(series, patch_size, request.context);
    check_fit(request, options, bucket);
    const Index last_series = std::numeric_limits<std::uint32_t>::max();
    if (request.batch - 1 > last_series - static_cast<Index>(series.first_series)) {  // they would draw alike
        forecast_detail::reject(ErrorCode::invalid_argument,
                                "series are numbered up to " + std::to_string(last_series) + ", but " +
                                    std::to_string(request.batch) + " from number " +
                                    std::to_string(series.first_series) + " on were given (Series::first_series).");
    }
    const Index last_sample = std::numeric_limits<std::uint32_t>::max();
    if (request.samples - 1 > last_sample - static_cast<Index>(options.first_sample)) {
        forecast_detail::reject(ErrorCode::invalid_argument,
                                "samples are numbered up to " + std::to_string(last_sample) + ", but " +
                                    std::to_string(request.samples) + " from number " +
                                    std::to_string(options.first_sample) + " on were asked for.");
    }
    if (request.horizon > bucket.horizon && series.has_groups_by_step() && bucket.horizon < patch_size) {
        forecast_detail::reject(ErrorCode::invalid_argument,
                                "groups that differ from step to step cannot go on from a horizon of " +
                                    std::to_string(bucket.horizon) + " steps, less than a patch of " +
                                    std::to_string(patch_size) + "; give one id for each variate.");
    }
    return request;
}

TOTOGRAPH_INLINE Bucket check_for(const Series& series, const ForecastOptions& options, const ForecastPlan& plan,
                                  ValuesOn values) {
    if (values == ValuesOn::device && !plan.imputation) {
        forecast_detail::reject(ErrorCode::invalid_argument,
                                "this model reads its series on the host; copy the values there.");
    }
    if (!series.future_observed.empty() && !plan.takes_future_gaps) {
        forecast_detail::reject(ErrorCode::invalid_argument,
                                "this model takes a known future without gaps; leave Series::future_observed empty.");
    }
    const Bucket request = check_for(series, options, plan.bucket, plan.sizes.patch_size, values);
    if (series.has_groups_by_step() && !plan.takes_groups_by_step) {
        forecast_detail::reject(ErrorCode::invalid_argument,
                                "this model takes one group id for each variate, found one for each step; give "
                                "Series::groups as [batch, variates].");
    }
    if (!series.future_observed.empty() && request.horizon > plan.bucket.horizon) {
        forecast_detail::reject(ErrorCode::invalid_argument,
                                "a horizon of " + std::to_string(request.horizon) + " steps goes beyond " +
                                    std::to_string(plan.bucket.horizon) +
                                    ", and the chunks behind would take gaps of the known future for zeros; leave "
                                    "Series::future_observed empty, or use a larger horizon.");
    }
    const Index each = plan.values(request.samples);
    if (!plan.bucket.holds(request) && forecast_detail::result_bytes(request, each) > machine_memory()) {
        forecast_detail::reject_size(request, each);
    }
    return request;
}

TOTOGRAPH_INLINE bool can_check_later(const Series& series, const ForecastOptions& options, const Bucket& bucket) {
    const Bucket request = used_sizes(series, options, bucket);
    return series.observed.empty() && request.context == series.steps && bucket.holds(request);
}

namespace forecast_detail {

TOTOGRAPH_INLINE Series series_from(const Series& series, Index first, Index count) {
    Series part = series;
    const auto cut = [&](auto& span, Index row) {
        span = span.subspan(static_cast<std::size_t>(first * row), static_cast<std::size_t>(count * row));
    };
    part.batch = count;
    part.stride = series.row_stride();
    part.offset = series.row_begin(first * series.variates);
    if (!series.groups.empty() && !series.has_groups_by_step()) {
        cut(part.groups, series.variates);
    }
    if (!series.future_exogenous.empty()) {
        const auto dropped = static_cast<std::size_t>(first * series.exogenous * series.future_steps);
        part.future_exogenous = series.future_exogenous.subspan(dropped);
        part.future_observed = series.future_observed.subspan(std::min(dropped, series.future_observed.size()));
    }
    part.first_series += static_cast<std::uint32_t>(first);
    return part;
}

TOTOGRAPH_INLINE void put(const Forecast& part, const PartPlace& place, const Bucket& whole, Index all,
                          std::span<float> to) {
    const Index samples =
        part.sample_count() > 0 ? part.sample_count() : std::max<Index>(1, static_cast<Index>(part.levels().size()));
    const Index rows = part.batch() * part.variates();
    for (Index row = 0; row < rows; ++row) {
        for (Index step = 0; step < part.horizon(); ++step) {
            const Index from = (row * part.horizon() + step) * samples;
            const Index at =
                ((place.series * whole.variates + row) * whole.horizon + place.step + step) * all + place.sample;
            std::copy_n(part.values().begin() + from, samples, to.begin() + at);
        }
    }
}

TOTOGRAPH_INLINE Series extended(const Series& series, const Forecast& chunk, Index most_steps, PartsMemory& memory) {
    const std::vector<float> middle =
        chunk.sample_count() == 0 && chunk.levels().empty() ? chunk.mean() : chunk.median();
    const Index steps = std::min(most_steps, series.steps + chunk.horizon());
    const Index added = std::min(steps, chunk.horizon());
    const Index kept = steps - added;
    const auto append = [&](const auto& from, const auto& behind, auto& to) {
        std::remove_reference_t<decltype(to)> rows;
        rows.reserve(static_cast<std::size_t>(series.rows() * steps));
        for (Index row = 0; row < series.rows(); ++row) {
            const auto end = from.begin() + series.row_begin(row) + series.steps;
            rows.insert(rows.end(), end - kept, end);
            for (Index step = chunk.horizon() - added; step < chunk.horizon(); ++step) {
                rows.push_back(behind(row, step, end));
            }
        }
        to = std::move(rows);
    };
    Series result = series;
    if (!series.observed.empty()) {
        append(
            series.observed, [](Index, Index, auto) { return std::uint8_t{1}; }, memory.observed);
        result.observed = memory.observed;
    }
    if (series.has_groups_by_step()) {
        append(
            series.groups, [](Index, Index, auto end) { return *(end - 1); }, memory.groups);
        result.groups = memory.groups;
    }
    append(
        series.values,
        [&](Index row, Index step, auto) { return middle[static_cast<std::size_t>(row * chunk.horizon() + step)]; },
        memory.values);
    result.values = memory.values;
    result.steps = steps;
    result.stride = 0;
    result.offset = 0;
    return result;
}

}  // namespace forecast_detail
namespace forecast_detail {

/// One chunk: a batch and samples in parts that the bucket holds. `run` forecasts one part.
inline Forecast forecast_chunk(const Series& series, const Bucket& request, std::uint64_t seed,
                               std::uint32_t first_sample, const ForecastPlan& plan, std::vector<float>& memory,
                               const PartForecast& run, ValuesOn values_are = ValuesOn::host) {
    const Bucket& bucket = plan.bucket;
    if (bucket.holds(request)) {
        return run(series, request, seed, first_sample, values_are);
    }
    const Index values = plan.values(request.samples);
    make_room(memory, request, values);
    Index not_finite = 0;
    for (Index first = 0; first < request.batch; first += bucket.batch) {
        Bucket part = request;
        part.batch = std::min(bucket.batch, request.batch - first);
        const Series some = series_from(series, first, part.batch);
        Index sample = 0;
        do {
            part.samples = std::min(bucket.samples, request.samples - sample);
            const Forecast forecast = run(some, part, seed, first_sample + static_cast<std::uint32_t>(sample));
            put(forecast, {.series = first, .sample = sample}, request, values, memory);
            not_finite += forecast.not_finite();
            sample += part.samples;
        } while (sample < request.samples);
    }
    return {memory, request.batch, request.variates, request.horizon, request.samples, not_finite, plan.levels};
}

TOTOGRAPH_INLINE Forecast forecast_parts(const Series& given, const ForecastOptions& options, const ForecastPlan& plan,
                                         PartsMemory& memory, const PartForecast& run) {
    const Bucket& bucket = plan.bucket;
    const Index patch_size = plan.sizes.patch_size;
    const bool checks_later = run.checks_values() && can_check_later(given, options, bucket);
    const ValuesOn values_are = checks_later ? ValuesOn::host_later : ValuesOn::host;
    const Bucket request = check_for(given, options, plan, values_are);
    if (request.context < given.steps && !memory.has_told_newest) {
        memory.has_told_newest = logs(LogTopic::sizes);
        log(LogTopic::sizes, [&] {
            return "of a context of " + std::to_string(given.steps) + " steps the newest " +
                   std::to_string(request.context) + " are used, as many as were compiled for; of others likewise";
        });
    }
    Series series = request.context < given.steps ? given.newest(request.context) : given;
    series.future_steps = given.future_steps == 0 ? request.horizon : given.future_steps;
    if (request.horizon <= bucket.horizon) {
        return forecast_chunk(series, request, options.seed, options.first_sample, plan, memory.result, run, values_are)
            .with_context(request.context);
    }
    log(LogTopic::sizes, [&] {
        return "a horizon of " + std::to_string(request.horizon) + " steps goes on from medians after each " +
               std::to_string(chunk_steps(bucket, patch_size));
    });
    const Index values = plan.values(request.samples);
    make_room(memory.result, request, values);
    Index done = 0;
    Index not_finite = 0;
    for (Index chunk = 0; done < request.horizon; ++chunk) {
        Bucket part = request;
        part.context = series.steps;
        part.horizon = std::min(chunk_steps(bucket, patch_size), request.horizon - done);
        const Forecast forecast = forecast_chunk(series, part, seed_of_chunk(options.seed, chunk), options.first_sample,
                                                 plan, memory.chunk, run);
        put(forecast, {.step = done}, request, values, memory.result);
        not_finite += forecast.not_finite();
        done += part.horizon;
        if (done < request.horizon) {
            const auto bytes = static_cast<std::size_t>(series.rows() * bucket.context) * sizeof(float);
            series = with_memory("a history with the forecast behind it", bytes,
                                 [&] { return extended(series, forecast, bucket.context, memory); });
            if (!series.future_exogenous.empty()) {
                const auto forecast_steps = static_cast<std::size_t>(part.horizon);
                series.future_exogenous = series.future_exogenous.subspan(forecast_steps);
                series.future_observed =
                    series.future_observed.subspan(std::min(forecast_steps, series.future_observed.size()));
            }
        }
    }
    return Forecast(memory.result, request.batch, request.variates, request.horizon, request.samples, not_finite,
                    plan.levels)
        .with_context(request.context);
}

}  // namespace forecast_detail
}  // namespace totograph
