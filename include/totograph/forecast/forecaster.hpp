// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecaster_options.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/request_parts.hpp>
#include <totograph/forecast/results/quantile_forecast.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/weights/model_weights.hpp>

namespace totograph {

/// What runs a forecaster's programs, by the type of its options: `Runner<Model, bucket, options>`. The header that
/// brings an executor specializes it (`forecast/cpu/forecaster.hpp`, `forecast/cuda/forecaster.hpp`).
template <class Options>
struct RunnerOf {
    static_assert(
        std::is_void_v<Options>,
        "totograph: no header was included that runs forecasters with these options; for ForecasterOptions it "
        "is <totograph/forecast/cpu/forecaster.hpp>, for cuda::ForecasterOptions "
        "<totograph/forecast/cuda/forecaster.hpp>.");
};

/// Forecasts with one bucket, whatever the batch, samples and context of a request: what is larger runs in parts. Cheap
/// to make beside the weights, which all forecasters share. One thread at a time may use it; several forecasters over
/// the same weights may run at the same time.
///
/// The type of the options says where it runs: on the CPU with `ForecasterOptions` (`CpuRunner` tells what else it can
/// be asked), on a CUDA device with `cuda::ForecasterOptions` (`cuda::Runner`).
///
/// @tparam Model  a model of a `ForecastFamily`
template <class Model, Bucket bucket, auto options = ForecasterOptions{}>
class Forecaster : public RunnerOf<std::remove_cvref_t<decltype(options)>>::template Runner<Model, bucket, options> {
    static_assert(check_bucket<Model, bucket>());
    using Runner = typename RunnerOf<std::remove_cvref_t<decltype(options)>>::template Runner<Model, bucket, options>;

public:
    using Resources = typename Runner::Resources;
    /// What a forecast gives: quantiles at fixed levels, or samples and means, as the family says.
    using Result = std::conditional_t<FamilyOf<Model>::results.levels.empty(), Forecast, QuantileForecast>;

    /// The sizes of the programs: of the bucket, in whole patches.
    static constexpr ForecastSizes sizes = FamilyOf<Model>::sizes(bucket);

    /// Prepares the weights (once for all forecasters that share them) and all memory that forecasts need. Throws
    /// `Error` when the resources make no sense (`invalid_argument`) or are not there, such as a device, or when there
    /// is no memory (`out_of_memory`).
    explicit Forecaster(const WeightsOf<Model>& weights, const Resources& resources = {})
        : Runner(weights.weights, resources) {}

    /// Forecasts the steps after the series. The result is a view of this forecaster's memory, valid until its next
    /// forecast. Of a context that is longer than the bucket's, the newest steps are used; a batch and samples beyond
    /// the bucket run in parts, with the draws of one piece; the horizon goes beyond it only where the options extend
    /// it. Allocates nothing for a request that fits. Throws `Error` (before any program runs)
    /// when the request is malformed, or asks for what parts cannot give; and `position_out_of_bounds` after a run
    /// that moved a position inside its axis, which takes somebody who writes to the states.
    Result forecast(const Series& series, const ForecastOptions& request_options = {}) {
        [[maybe_unused]] const auto scope = this->begin();
        if constexpr (checks_values()) {
            return in_parts(
                series, request_options,
                [this](const Series& part, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample,
                       ValuesOn values) { return this->run(part, request, seed, first_sample, values); });
        } else {
            return in_parts(
                series, request_options,
                [this](const Series& part, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample) {
                    return this->run(part, request, seed, first_sample);
                });
        }
    }

    /// Bytes that this forecaster holds beside the shared weights, on the device where it runs on one.
    [[nodiscard]] std::size_t memory_bytes() const { return this->runner_bytes() + parts_.bytes(); }

private:
    /// Whether the runner checks values that nobody has looked at.
    static constexpr bool checks_values() {
        if constexpr (requires { Runner::checks_values; }) {
            return Runner::checks_values;
        } else {
            return false;
        }
    }

    template <class Run>
    Result in_parts(const Series& series, const ForecastOptions& request_options, const Run& run) {
        return Result(forecast_in_parts(series, request_options, Runner::plan, parts_, run));
    }

    PartsMemory parts_;
};

}  // namespace totograph
