// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include <totograph/core/not_finite.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/state_memory.hpp>
#include <totograph/forecast/weights/checkpoint_rules.hpp>

// What a model offers so that everything in `forecast/` and `serve/` can run it.
//
// A *model* is a type with a constexpr value `config`, the sizes of a published network. The type of that value names
// the *family*, a template over models: `typename Config::template Family<Model>`. docs/add_a_model.md writes one.
namespace totograph {

namespace io {

class ModelConfig;

}  // namespace io

/// What a family's results hold at each step.
struct ResultKind {
    bool samples = false;  ///< Samples, where the bucket has them.
    bool mean = false;     ///< The mean, where the bucket has no samples.
    /// Quantiles at these levels, ascending, in place of both; the values outlive every forecast.
    std::span<const double> levels{};
    /// How values tell that they are no finite numbers, which `Forecast::not_finite` counts.
    NotFinite not_finite = NotFinite::by_value;
};

/// The models of a schedule's programs, each a type with `static constexpr void record(Recorder&)`.
template <class... Models>
struct ModelList {
    static constexpr std::size_t size = sizeof...(Models);
};

/// The family of a model.
template <class Model>
using FamilyOf = typename std::remove_cvref_t<decltype(Model::config)>::template Family<Model>;

/// The model whose checkpoint a model reads: its own, unless it names another (`using Checkpoint = ...`), as a variant
/// of a published model does.
template <class Model>
struct CheckpointOf {
    using type = Model;
};
template <class Model>
requires requires {
    typename Model::Checkpoint;
}
struct CheckpointOf<Model> {
    using type = typename Model::Checkpoint;
};

namespace forecast_detail {

template <class Model>
concept HasFamily = requires {
    typename FamilyOf<Model>;
};

template <class Family>
concept HasSizes = requires(const Bucket& bucket) {
    { Family::sizes(bucket) } -> std::same_as<ForecastSizes>;
};
template <class Family>
concept HasResults = requires {
    { Family::results } -> std::convertible_to<ResultKind>;
};
template <class Family>
concept HasRows = requires(const Bucket& bucket) {
    { Family::rows(bucket) } -> std::convertible_to<Index>;
};
template <class Family>
concept HasSmallestBucket = requires {
    { Family::smallest_bucket } -> std::convertible_to<Bucket>;
};
template <class Family>
concept HasFill = requires(StateMemory memory, const ForecastSizes& sizes, const Series& series,
                           const Bucket& request) {
    Family::fill(memory, sizes, series, request, std::uint64_t{}, std::uint32_t{});
};
template <class Family>
concept HasCheckpoint = requires {
    { Family::checkpoint } -> std::convertible_to<CheckpointRules>;
};
template <class Family>
concept HasCheckConfig = requires(const io::ModelConfig& file) {
    Family::check_config(file);
};
template <class Family, Bucket bucket>
concept HasCheck = requires {
    { Family::template check<bucket>() } -> std::convertible_to<bool>;
};
template <class Family, Bucket bucket>
concept HasSchedule = requires(std::size_t program, Index horizon) {
    { Family::template Schedule<bucket>::Models::size } -> std::convertible_to<std::size_t>;
    { Family::template Schedule<bucket>::runs(program, horizon) } -> std::convertible_to<Index>;
    { Family::template Schedule<bucket>::names[program] } -> std::convertible_to<std::string_view>;
    { Family::template Schedule<bucket>::titles[program] } -> std::convertible_to<std::string_view>;
};

}  // namespace forecast_detail

/// A type that belongs to a family, with all that a family offers:
///
/// | Member of the family | What it is |
/// |---|---|
/// | `results` | a `ResultKind` |
/// | `sizes(bucket)` | the `ForecastSizes` of a bucket |
/// | `rows(bucket)` | rows that pass through the layers, the measure of a forecast's work |
/// | `check<bucket>()` | consteval; prints a sentence for a bucket or a configuration that cannot work |
/// | `Schedule<bucket>` | the programs of a forecast: `Models` (a `ModelList`), `names` and `titles` of each, and |
/// |   | `runs(program, horizon)`; they run in order, each so many times |
/// | `fill(memory, sizes, series, request, seed, first_sample)` | writes a checked request to the input states |
/// | `smallest_bucket` | a bucket that is quick to record; its programs read every tensor of the checkpoint |
/// | `check_config(file)` | compares `config.json` with `config`; throws an `Error` that lists what differs |
/// | `checkpoint` | the `CheckpointRules` |
/// | `takes_future_gaps` | optional: whether a known future may have gaps (`states::future_observed`); else not |
/// | `imputation` | optional: the `Imputation` of gaps, of a family whose `fill` writes `states::series` and |
/// |   | `states::observed` as `InputStates::fill` does, and nothing else of the values: they may lie on a device |
/// | `takes_groups_by_step` | optional: whether a variate may change its group from patch to patch; else it may |
template <class Model>
concept ForecastFamily = forecast_detail::HasFamily<Model> && forecast_detail::HasSizes<FamilyOf<Model>> &&
    forecast_detail::HasResults<FamilyOf<Model>> && forecast_detail::HasRows<FamilyOf<Model>> &&
    forecast_detail::HasSmallestBucket<FamilyOf<Model>> && forecast_detail::HasFill<FamilyOf<Model>> &&
    forecast_detail::HasCheckConfig<FamilyOf<Model>> && forecast_detail::HasCheckpoint<FamilyOf<Model>> &&
    forecast_detail::HasCheck<FamilyOf<Model>, FamilyOf<Model>::smallest_bucket> &&
    forecast_detail::HasSchedule<FamilyOf<Model>, FamilyOf<Model>::smallest_bucket>;

/// A sentence for each thing that a family lacks.
template <class Model>
consteval bool check_family() {
    using namespace forecast_detail;
    static_assert(HasFamily<Model>,
                  "totograph: a model needs a constexpr value `config`, whose type names its family: `template <class "
                  "Model> using Family = ...`.");
    if constexpr (HasFamily<Model>) {
        using Family = FamilyOf<Model>;
        static_assert(HasSizes<Family>,
                      "totograph: a family needs `static constexpr ForecastSizes sizes(const Bucket&)`.");
        static_assert(HasResults<Family>, "totograph: a family needs `static constexpr ResultKind results`.");
        static_assert(HasRows<Family>, "totograph: a family needs `static constexpr Index rows(const Bucket&)`.");
        static_assert(HasFill<Family>,
                      "totograph: a family needs `static void fill(StateMemory, const ForecastSizes&, const Series&, "
                      "const Bucket& request, std::uint64_t seed, std::uint32_t first_sample)`.");
        static_assert(HasCheckConfig<Family>,
                      "totograph: a family needs `static void check_config(const io::ModelConfig&)`.");
        static_assert(HasCheckpoint<Family>,
                      "totograph: a family needs `static constexpr CheckpointRules checkpoint`.");
        static_assert(HasSmallestBucket<Family>,
                      "totograph: a family needs `static constexpr Bucket smallest_bucket`.");
        if constexpr (HasSmallestBucket<Family>) {
            static_assert(HasCheck<Family, Family::smallest_bucket>,
                          "totograph: a family needs `template <Bucket> static consteval bool check()`.");
            static_assert(HasSchedule<Family, Family::smallest_bucket>,
                          "totograph: a family needs `template <Bucket> struct Schedule` with `Models`, `names`, "
                          "`titles` and `runs(program, horizon)`.");
        }
    }
    return true;
}

/// Steps of a horizon, at most.
inline constexpr Index most_horizon = 1'048'576;

/// Sentences for buckets that no family can compile, and those of the family.
template <class Model, Bucket bucket>
consteval bool check_bucket() {
    static_assert(check_family<Model>());
    static_assert(bucket.batch > 0 && bucket.variates > 0,
                  "totograph: a bucket needs at least one series and one variate.");
    static_assert(bucket.context > 0, "totograph: a bucket needs a context of at least one step.");
    static_assert(bucket.horizon > 0, "totograph: a bucket needs a horizon of at least one step.");
    static_assert(bucket.samples >= 0, "totograph: a bucket's number of samples is 0 (a mean forecast) or more.");
    static_assert(bucket.exogenous >= 0 && bucket.exogenous < bucket.variates,
                  "totograph: a bucket needs at least one variate that is not exogenous.");
    constexpr Index most = std::numeric_limits<std::int32_t>::max();
    static_assert(bucket.batch <= most && bucket.variates <= most && bucket.context <= most && bucket.horizon <= most &&
                      bucket.samples <= most,
                  "totograph: each size of a bucket is at most 2^31 - 1, for programs read those of a request as i32.");
    static_assert(
        bucket.horizon <= most_horizon,
        "totograph: the horizon of a bucket is at most 1,048,576 steps, for all of them are gone through while "
        "compiling.");
    constexpr ResultKind results = FamilyOf<Model>::results;
    static_assert(bucket.samples == 0 || results.samples,
                  "totograph: this family of models does not sample; a bucket of it has samples = 0.");
    static_assert(bucket.samples > 0 || results.mean || !results.levels.empty(),
                  "totograph: this family of models has nothing but samples; a bucket of it has samples = 1 or more.");
    constexpr bool fits = FamilyOf<Model>::template check<bucket>();
    static_assert(fits,
                  "totograph: the family's `check` is false for this bucket; a static_assert of its own in there "
                  "says what is wrong.");
    return fits;
}

}  // namespace totograph
