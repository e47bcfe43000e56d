// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <totograph/totograph.hpp>

#include "exit_codes.hpp"
#include "forecast_result.hpp"
#include "options.hpp"
#include "series_input.hpp"

// All that the program uses of the library's forecaster is in this header: what a program of your own would need.
namespace forecast_program {

/// The model behind `--checkpoint`.
using CheckpointModel = totograph::toto::open_base_1_0;

/// A small model of the same kind that stands in without a checkpoint.
struct DemoModel {
    static constexpr totograph::toto::Toto1Config config{.patch_size = 32,
                                                         .embed_dim = 128,
                                                         .num_layers = 4,
                                                         .num_heads = 4,
                                                         .mlp_hidden_dim = 256,
                                                         .spacewise_every_n_layers = 4,
                                                         .k_components = 8};
};

/// The requests that this program is compiled for. One is served by the cheapest bucket that holds it.
template <class Model>
using Buckets = totograph::BucketSet<
    Model, totograph::Bucket{.variates = 16, .context = 512, .horizon = 64, .samples = 128, .exogenous = 4},
    totograph::Bucket{.variates = 16, .context = 4096, .horizon = 336, .samples = 128, .exogenous = 4},
    totograph::Bucket{.variates = 16, .context = 4096, .horizon = 336, .samples = 0, .exogenous = 4}>;

/// The most rows of history that any bucket holds.
inline constexpr totograph::Index largest_context = 4096;

/// Tells the user what is being done, and the program what an error would mean.
using StageReport = std::function<void(Stage, const std::string&)>;

namespace detail {

/// The series as the library sees it: spans over the input's arrays.
inline totograph::Series series_view(const SeriesInput& input) {
    return {.batch = 1,
            .variates = input.variates(),
            .steps = input.steps,
            .values = input.values,
            .observed = input.observed,
            .groups = input.groups,
            .exogenous = static_cast<totograph::Index>(input.exogenous.size()),
            .future_exogenous = input.future_exogenous};
}

/// The targets' part of [variates, horizon] values; the exogenous variates come last and are not shown.
inline std::vector<float> targets_of(std::vector<float> values, const SeriesInput& input) {
    values.resize(input.targets.size() * static_cast<std::size_t>(input.horizon));
    return values;
}

inline ForecastResult summary(const totograph::Forecast& forecast, const SeriesInput& input, const Options& options) {
    ForecastResult result;
    result.series = static_cast<std::int64_t>(input.targets.size());
    result.horizon = input.horizon;
    result.samples = options.samples;
    result.mean = targets_of(forecast.mean(), input);
    if (options.samples == 0) {
        return result;
    }
    const auto quantile = [&](double level) {
        return QuantileValues{level, targets_of(forecast.quantile(level), input)};
    };
    result.median = targets_of(forecast.median(), input);
    // One sample alone has no deviation; NaN is shown as a blank.
    result.deviation = options.samples > 1 ? targets_of(forecast.stddev(), input)
                                           : std::vector<float>(result.mean.size(), std::nanf(""));
    for (const double level : options.quantiles) {
        result.quantiles.push_back(quantile(level));
    }
    for (const double level : {0.05, 0.25, 0.75, 0.95}) {
        result.edges.push_back(quantile(level));
    }
    return result;
}

inline totograph::ForecastOptions library_options(const SeriesInput& input, const Options& options) {
    return {.seed = options.seed, .horizon = input.horizon, .samples = options.samples};
}

/// Calls `action` with the type of the forecaster for the bucket that serves a request. Making that one alone, and not
/// a whole bucket set, keeps the memory to what the request needs. Throws `Error(no_bucket)` when none serves it.
template <class Model, class Action>
auto with_forecaster(const SeriesInput& input, const Options& options, Action action) {
    using Set = Buckets<Model>;
    const std::size_t which = Set::find(series_view(input), library_options(input, options));
    using Result = decltype(action.template operator()<totograph::Forecaster<Model, Set::by_cost[0]>>());
    Result result;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((i == which ? void(result = action.template operator()<totograph::Forecaster<Model, Set::by_cost[i]>>())
                     : void()),
         ...);
    }
    (std::make_index_sequence<Set::count>());
    return result;
}

template <class Model>
ForecastResult run(const totograph::toto::ModelWeights<Model>& weights, const SeriesInput& input,
                   const Options& options, const StageReport& report) {
    return with_forecaster<Model>(input, options, [&]<class Forecaster>() {
        report(Stage::checkpoint, options.checkpoint.empty() ? "making an untrained model" : "reading the weights");
        Forecaster forecaster(weights, {.threads = options.threads});
        report(Stage::forecast, "forecasting " + plural(input.horizon, "step"));
        return summary(forecaster.forecast(series_view(input), library_options(input, options)), input, options);
    });
}

}  // namespace detail

/// Forecasts the input with the checkpoint that the options name, or with the untrained demo model.
inline ForecastResult run_forecast(const SeriesInput& input, const Options& options, const StageReport& report) {
    namespace toto = totograph::toto;
    if (options.checkpoint.empty()) {
        return detail::run<DemoModel>(toto::untrained<DemoModel>(0), input, options, report);
    }
    report(Stage::checkpoint, "opening the checkpoint");
    return detail::run<CheckpointModel>(toto::load<CheckpointModel>(options.checkpoint), input, options, report);
}

/// The program of the bucket that serves a request, as a table and as a Graphviz graph.
struct ProgramDescription {
    std::string table;
    std::string dot;
};

/// Describes what would run for this input and these options.
inline ProgramDescription describe_program(const SeriesInput& input, const Options& options) {
    const auto describe = []<class Forecaster>() {
        return ProgramDescription{Forecaster::explain(), Forecaster::dot()};
    };
    return options.checkpoint.empty() ? detail::with_forecaster<DemoModel>(input, options, describe)
                                      : detail::with_forecaster<CheckpointModel>(input, options, describe);
}

}  // namespace forecast_program
