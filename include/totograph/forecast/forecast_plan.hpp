// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <totograph/core/not_finite.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/state_memory.hpp>

namespace totograph {

/// How a model forecasts with a bucket, without their types: everything but the programs themselves.
struct ForecastPlan {
    Bucket bucket;
    ForecastSizes sizes;
    std::span<const double> levels{};            ///< Of a family that forecasts quantiles.
    NotFinite not_finite = NotFinite::by_value;  ///< How values tell that they are no finite numbers.
    bool takes_future_gaps = false;              ///< Whether a known future may have gaps.
    bool takes_groups_by_step = true;            ///< Whether a variate may change its group on the way.
    /// How gaps are given values, of a family that takes values in the memory of a device.
    std::optional<Imputation> imputation{};
    std::span<const std::string_view> names{};   ///< Of the programs, in the order in which they run.
    std::span<const std::string_view> titles{};  ///< What each of them does, in a few words.
    /// How often a program runs for a horizon of so many steps.
    Index (*runs)(std::size_t program, Index horizon) = nullptr;
    /// Writes a checked request to the input states.
    void (*fill)(StateMemory memory, const ForecastSizes& sizes, const Series& series, const Bucket& request,
                 std::uint64_t seed, std::uint32_t first_sample) = nullptr;

    /// Of a forecaster that has no programs, such as a backend of somebody's own: for `forecast_in_parts`.
    static constexpr ForecastPlan of(const Bucket& bucket, Index patch_size = 1, std::span<const double> levels = {}) {
        return {.bucket = bucket,
                .sizes = ForecastSizes(bucket, patch_size, 0, static_cast<Index>(levels.size())),
                .levels = levels};
    }

    /// Whether gaps get values from what was observed around them.
    [[nodiscard]] constexpr bool imputes() const {
        return imputation.value_or(Imputation::as_given) != Imputation::as_given;
    }
    [[nodiscard]] constexpr std::size_t program_count() const { return names.size(); }
    /// Values that a result has at each step for so many samples.
    [[nodiscard]] constexpr Index values(Index samples) const {
        return samples > 0 ? samples : std::max<Index>(1, static_cast<Index>(levels.size()));
    }
    /// Elements of a result that fills the bucket.
    [[nodiscard]] constexpr std::size_t result_size() const {
        return static_cast<std::size_t>(bucket.batch * bucket.variates * bucket.horizon * sizes.values);
    }
};

namespace forecast_detail {

/// Whether the first program runs in every forecast, and none less often for a longer horizon.
template <class Schedule>
consteval bool runs_never_fall(Index horizon) {
    for (std::size_t program = 0; program < Schedule::Models::size; ++program) {
        Index before = program == 0 ? 1 : 0;
        for (Index steps = 1; steps <= horizon; ++steps) {
            const Index now = Schedule::runs(program, steps);
            if (now < before) {
                return false;
            }
            before = now;
        }
    }
    return true;
}

/// Whether levels are quantiles in ascending order around the median.
consteval bool are_levels(std::span<const double> levels) {
    double before = 0;
    for (const double level : levels) {
        if (!(level > before && level < 1)) {  // nor is NaN
            return false;
        }
        before = level;
    }
    return levels.empty() || (levels.front() <= 0.5 && levels.back() >= 0.5);
}

/// Whether the sizes hold what the bucket asks for, with as many values a step as the results have.
consteval bool fit(const ForecastSizes& sizes, const Bucket& bucket, const ResultKind& results) {
    const Index values =
        bucket.samples > 0 ? bucket.samples : std::max<Index>(1, static_cast<Index>(results.levels.size()));
    return sizes.values == values && sizes.batch == bucket.batch && sizes.variates == bucket.variates &&
           sizes.context_steps() >= bucket.context && sizes.forecast_steps() >= bucket.horizon;
}

}  // namespace forecast_detail

/// The plan of a model and a bucket. Does not compile, with a sentence, for those that cannot work.
template <class Model, Bucket bucket>
constexpr ForecastPlan forecast_plan() {
    static_assert(check_bucket<Model, bucket>());
    using Family = FamilyOf<Model>;
    using Schedule = typename Family::template Schedule<bucket>;
    static_assert(Schedule::names.size() == Schedule::Models::size && Schedule::titles.size() == Schedule::Models::size,
                  "totograph: a schedule needs a name and a title for each of its programs.");
    static_assert(forecast_detail::runs_never_fall<Schedule>(std::min(bucket.horizon, most_horizon)),
                  "totograph: a schedule runs its first program in every forecast, and none less often for a longer "
                  "horizon.");
    static_assert(forecast_detail::are_levels(Family::results.levels) &&
                      (Family::results.levels.empty() || (!Family::results.samples && !Family::results.mean)),
                  "totograph: the levels of a family are ascending, between 0 and 1 and around 0.5, and take the place "
                  "of samples and means.");
    static_assert(forecast_detail::fit(Family::sizes(bucket), bucket, Family::results),
                  "totograph: the sizes of a family are those of the bucket in whole patches, with a value a step for "
                  "each sample or level.");
    return {
        .bucket = bucket,
        .sizes = Family::sizes(bucket),
        .levels = Family::results.levels,
        .not_finite = Family::results.not_finite,
        .takes_future_gaps =
            [] {
                if constexpr (requires { Family::takes_future_gaps; }) {
                    return Family::takes_future_gaps;
                } else {
                    return false;
                }
            }(),
        .takes_groups_by_step =
            [] {
                if constexpr (requires { Family::takes_groups_by_step; }) {
                    return Family::takes_groups_by_step;
                } else {
                    return true;
                }
            }(),
        .imputation = []() -> std::optional<Imputation> {
            if constexpr (requires { Family::imputation; }) {
                return Family::imputation;
            } else {
                return std::nullopt;
            }
        }(),
        .names = Schedule::names,
        .titles = Schedule::titles,
        .runs = [](std::size_t program, Index horizon) { return static_cast<Index>(Schedule::runs(program, horizon)); },
        .fill = [](StateMemory memory, const ForecastSizes& sizes, const Series& series, const Bucket& request,
                   std::uint64_t seed,
                   std::uint32_t first_sample) { Family::fill(memory, sizes, series, request, seed, first_sample); }};
}

}  // namespace totograph
