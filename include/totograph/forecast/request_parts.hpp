// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/log.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/out_of_memory.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/series.hpp>

// How a forecaster of one bucket serves requests that are larger than it.
namespace totograph {

/// What requests need that are larger than a bucket. Empty until the first of them, and never smaller after it: other
/// requests allocate nothing.
struct PartsMemory {
    std::vector<float> result;             ///< Of all parts together.
    std::vector<float> chunk;              ///< Of the steps up to which medians are taken.
    std::vector<float> values{};           ///< The history with medians behind it.
    std::vector<std::uint8_t> observed{};  ///< Of that history.
    std::vector<std::int32_t> groups{};    ///< Of that history.
    bool has_told_newest = false;          ///< That the newest steps alone are used: once is enough.

    [[nodiscard]] std::size_t bytes() const {
        return (result.capacity() + chunk.capacity() + values.capacity()) * sizeof(float) + observed.capacity() +
               groups.capacity() * sizeof(std::int32_t);
    }
};

/// The seed of a chunk of an extended forecast: that of the request for the first one, and others for those after it,
/// or each would draw the same numbers again.
constexpr std::uint64_t seed_of_chunk(std::uint64_t seed, Index chunk) noexcept {
    return seed + static_cast<std::uint64_t>(chunk) * 0x9E3779B97F4A7C15U;
}

/// Steps of a chunk of an extended forecast: those of the bucket, in whole patches where it has any, so that patches of
/// the history stay what they were.
constexpr Index chunk_steps(const Bucket& bucket, Index patch_size) noexcept {
    return std::max(bucket.horizon / patch_size * patch_size, std::min(bucket.horizon, patch_size));
}

namespace forecast_detail {

/// Of what a request asks for, however much that is, with so many values at each step.
inline double result_bytes(const Bucket& request, Index values) noexcept {
    return static_cast<double>(request.batch) * static_cast<double>(request.variates) *
           static_cast<double>(request.horizon) * static_cast<double>(values) * sizeof(float);
}

[[noreturn]] inline void reject_size(const Bucket& request, Index values) {
    reject_memory("the result of a request of " + to_string(request), result_bytes(request, values));
}

/// Makes room for a result. Throws `Error` (`out_of_memory`) when there is none.
template <class Room>
void make_room(Room& room, const Bucket& request, Index values) {
    try {
        room.resize(static_cast<std::size_t>(request.batch * request.variates * request.horizon * values));
    } catch (const std::bad_alloc&) {
        reject_size(request, values);
    }
}

}  // namespace forecast_detail

/// Checks a request that a bucket is to forecast, in one piece or in several: everything, before anything runs. Gives
/// its `used_sizes`. Throws `Error`.
Bucket check_for(const Series& series, const ForecastOptions& options, const Bucket& bucket, Index patch_size);

/// The same with the bucket of a plan, and that the machine has memory for what is larger than the bucket: all that
/// `forecast_in_parts` checks before anything runs.
Bucket check_for(const Series& series, const ForecastOptions& options, const ForecastPlan& plan);

namespace forecast_detail {

/// Some of the series of a batch.
Series series_from(const Series& series, Index first, Index count);

/// Where values of a part go in those of the whole: `[batch, variates, horizon, samples]`.
struct PartPlace {
    Index series = 0;
    Index step = 0;
    Index sample = 0;
};

/// @param all  values that the whole has at each step
void put(const Forecast& part, const PartPlace& place, const Bucket& whole, Index all, std::span<float> to);

/// One chunk: a batch and samples in parts that the bucket holds. `run` forecasts one part.
template <class Run>
Forecast forecast_chunk(const Series& series, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample,
                        const ForecastPlan& plan, std::vector<float>& memory, const Run& run) {
    const Bucket& bucket = plan.bucket;
    if (bucket.holds(request)) {
        return run(series, request, seed, first_sample);
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

/// A history with what was forecast behind it, of which a bucket's context is kept.
Series extended(const Series& series, const Forecast& chunk, Index most_steps, PartsMemory& memory);

}  // namespace forecast_detail

/// Forecasts a request with a forecaster of one bucket, whatever its size: the newest steps of a context that is
/// longer; a batch and samples in parts, with the draws that they would have in one piece; with
/// `ForecastOptions::extend`, a horizon in chunks, each from the medians before it (means, where nothing is sampled).
///
/// The result is valid as long as that of `run`, and as the memory is not used again. Allocates only for a request that
/// is larger than the bucket in its batch, samples or horizon. Throws `Error`, before anything runs, when the request
/// is malformed or asks for what the bucket cannot give (`out_of_memory`: for a result that is larger than the memory
/// of the machine), and what `run` throws; `out_of_memory`, too, when there is no memory for a request that is larger
/// than the bucket.
///
/// @param run  `Forecast run(const Series&, const Bucket& request, std::uint64_t seed, std::uint32_t
///             first_sample)` forecasts what has been checked and fits
template <class Run>
Forecast forecast_in_parts(const Series& given, const ForecastOptions& options, const ForecastPlan& plan,
                           PartsMemory& memory, const Run& run) {
    const Bucket& bucket = plan.bucket;
    const Index patch_size = plan.sizes.patch_size;
    const Bucket request = check_for(given, options, plan);
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
        return forecast_detail::forecast_chunk(series, request, options.seed, options.first_sample, plan, memory.result,
                                               run)
            .with_context(request.context);
    }
    log(LogTopic::sizes, [&] {
        return "a horizon of " + std::to_string(request.horizon) + " steps goes on from medians after each " +
               std::to_string(chunk_steps(bucket, patch_size));
    });
    const Index values = plan.values(request.samples);
    forecast_detail::make_room(memory.result, request, values);
    Index done = 0;
    Index not_finite = 0;
    for (Index chunk = 0; done < request.horizon; ++chunk) {
        Bucket part = request;
        part.context = series.steps;
        part.horizon = std::min(chunk_steps(bucket, patch_size), request.horizon - done);
        const Forecast forecast = forecast_detail::forecast_chunk(series, part, seed_of_chunk(options.seed, chunk),
                                                                  options.first_sample, plan, memory.chunk, run);
        forecast_detail::put(forecast, {.step = done}, request, values, memory.result);
        not_finite += forecast.not_finite();
        done += part.horizon;
        if (done < request.horizon) {
            const auto bytes = static_cast<std::size_t>(series.rows() * bucket.context) * sizeof(float);
            series = forecast_detail::with_memory("a history with the forecast behind it", bytes, [&] {
                return forecast_detail::extended(series, forecast, bucket.context, memory);
            });
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

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/impl/request_parts.hpp>
#endif
