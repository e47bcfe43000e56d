// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

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
Bucket check_for(const Series& series, const ForecastOptions& options, const Bucket& bucket, Index patch_size,
                 ValuesOn values = ValuesOn::host);

/// The same with the bucket of a plan, and that the machine has memory for what is larger than the bucket: all that
/// `forecast_in_parts` checks before anything runs.
Bucket check_for(const Series& series, const ForecastOptions& options, const ForecastPlan& plan,
                 ValuesOn values = ValuesOn::host);

/// Whether the values of a request can be checked by who runs it: a bucket forecasts all of the series in one piece, so
/// that places in it are those of the request, and no gaps are filled first. The request need not make sense.
bool can_check_later(const Series& series, const ForecastOptions& options, const Bucket& bucket);

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

/// Somebody's function that forecasts one part, which has been checked and fits. It must outlive this.
class PartForecast {
public:
    template <class Run>
    explicit PartForecast(const Run& run)
        : checks_values_(checks<Run>),
          run_(std::addressof(run)),
          call_([](const void* of, const Series& series, const Bucket& request, std::uint64_t seed,
                   std::uint32_t first_sample, [[maybe_unused]] ValuesOn values) -> Forecast {
              if constexpr (checks<Run>) {
                  return (*static_cast<const Run*>(of))(series, request, seed, first_sample, values);
              } else {
                  return (*static_cast<const Run*>(of))(series, request, seed, first_sample);
              }
          }) {}

    Forecast operator()(const Series& series, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample,
                        ValuesOn values = ValuesOn::host) const {
        return call_(run_, series, request, seed, first_sample, values);
    }

    /// Whether it looks at values that nobody has looked at.
    [[nodiscard]] bool checks_values() const { return checks_values_; }

private:
    template <class Run>
    static constexpr bool checks =
        std::is_invocable_v<const Run&, const Series&, const Bucket&, std::uint64_t, std::uint32_t, ValuesOn>;

    bool checks_values_;
    const void* run_;
    Forecast (*call_)(const void*, const Series&, const Bucket&, std::uint64_t, std::uint32_t, ValuesOn);
};

Forecast forecast_parts(const Series& given, const ForecastOptions& options, const ForecastPlan& plan,
                        PartsMemory& memory, const PartForecast& run);

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
///             first_sample)` forecasts what has been checked and fits. One that takes a `ValuesOn` behind these checks
///             values that are `host_later` itself (`check_values`): those of a request that `can_check_later`
template <class Run>
Forecast forecast_in_parts(const Series& given, const ForecastOptions& options, const ForecastPlan& plan,
                           PartsMemory& memory, const Run& run) {
    return forecast_detail::forecast_parts(given, options, plan, memory, forecast_detail::PartForecast(run));
}

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/impl/request_parts.hpp>
#endif
