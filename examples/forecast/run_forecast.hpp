// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/request_parts.hpp>
#include <totograph/forecast/series.hpp>

#include "../common/exit_codes.hpp"
#include "../common/format.hpp"
#include "../common/progress.hpp"
#include "../common/require_finite.hpp"
#include "../models/model.hpp"
#include "bounds.hpp"
#include "forecast_result.hpp"
#include "input_groups.hpp"
#include "options.hpp"
#include "series_input.hpp"

// All that the program uses of a forecaster is in this header. ../models/ has the other half: which models and sizes
// are compiled, and how their weights are loaded.
namespace examples {

/// Tells the user what is being done, and the program what an error would mean.
/// `share` is how much of the stage is done, negative when it cannot be told.
using StageReport = std::function<void(Stage, const std::string& words, double share)>;

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

/// The targets' part of [variates, horizon] values, with their level (deviations have none); the exogenous variates
/// come last and are not shown.
inline std::vector<double> targets_of(const std::vector<float>& values, const SeriesInput& input,
                                      bool is_deviation = false) {
    const auto horizon = static_cast<std::size_t>(input.horizon);
    std::vector<double> shown(values.begin(),
                              values.begin() + static_cast<std::ptrdiff_t>(input.targets.size() * horizon));
    for (std::size_t i = 0; i < shown.size() && !is_deviation; ++i) {
        shown[i] += input.levels[i / horizon];
    }
    return shown;
}

/// The samples clipped to `bounds`: what the mean and the deviation are taken of.
inline std::vector<float> clipped_samples(const totograph::Forecast& forecast, const SeriesInput& input,
                                          const Bounds& bounds) {
    const auto samples = forecast.samples();
    std::vector<float> clipped(samples.begin(), samples.end());
    const auto of_variate = static_cast<std::size_t>(forecast.horizon() * forecast.sample_count());
    for (std::size_t i = 0; i < clipped.size(); ++i) {
        const double level = input.levels[i / of_variate];
        clipped[i] = static_cast<float>(bounds.clip(clipped[i] + level) - level);
    }
    return clipped;
}

/// The levels of the edges of charts' bands: half of the probability inside, and nearly all that is told.
inline std::vector<double> edge_levels(const totograph::Forecast& forecast) {
    const auto levels = forecast.levels();
    return levels.empty() ? std::vector<double>{0.05, 0.25, 0.75, 0.95}
                          : std::vector<double>{levels.front(), 0.25, 0.75, levels.back()};
}

inline ForecastResult summary(const totograph::Forecast& forecast, const SeriesInput& input, const Options& options) {
    ForecastResult result;
    result.series = static_cast<std::int64_t>(input.targets.size());
    result.horizon = input.horizon;
    result.samples = options.samples;
    const bool has_quantiles = !forecast.levels().empty();
    if (options.samples == 0 && !has_quantiles) {
        result.mean = targets_of(forecast.mean(), input);
        clip(result, options.bounds);
        return result;
    }
    if (!has_quantiles) {
        std::vector<float> clipped;
        totograph::Forecast inside = forecast;
        if (options.bounds.any()) {
            clipped = clipped_samples(forecast, input, options.bounds);
            inside = {clipped, forecast.batch(), forecast.variates(), forecast.horizon(), forecast.sample_count()};
        }
        result.mean = targets_of(inside.mean(), input);
        // One sample alone has no deviation; NaN is shown as a blank.
        result.deviation = options.samples > 1 ? targets_of(inside.stddev(), input, true)
                                               : std::vector<double>(result.mean.size(), std::nan(""));
    }
    const auto quantile = [&](double level) {
        return QuantileValues{level, targets_of(forecast.quantile(level), input)};
    };
    result.median = targets_of(forecast.median(), input);
    for (const double level : options.quantiles) {
        result.quantiles.push_back(quantile(level));
    }
    for (const double level : edge_levels(forecast)) {
        result.edges.push_back(quantile(level));
    }
    clip(result, options.bounds);
    return result;
}

inline totograph::ForecastOptions library_options(const SeriesInput& input, const Options& options) {
    return {.seed = options.seed, .horizon = input.horizon, .samples = options.samples, .extend = options.extend};
}

/// Adds the series of a part behind those of the parts before it.
inline void append(ForecastResult& to, ForecastResult part) {
    if (to.series == 0) {
        to = std::move(part);
        return;
    }
    const auto add = [](std::vector<double>& values, const std::vector<double>& more) {
        values.insert(values.end(), more.begin(), more.end());
    };
    to.series += part.series;
    add(to.mean, part.mean);
    add(to.median, part.median);
    add(to.deviation, part.deviation);
    for (std::size_t i = 0; i < to.quantiles.size(); ++i) {
        add(to.quantiles[i].values, part.quantiles[i].values);
    }
    for (std::size_t i = 0; i < to.edges.size(); ++i) {
        add(to.edges[i].values, part.edges[i].values);
    }
}

/// Which columns are being forecast, where not all are at once.
inline std::string part_words(const ColumnGroup& group, const SeriesInput& input, std::size_t groups) {
    return groups == 1 ? ""
                       : ", columns from " + count_text(static_cast<std::int64_t>(group.first) + 1) + " of " +
                             count_text(static_cast<std::int64_t>(input.targets.size()));
}

}  // namespace detail

/// The sizes of each column by itself.
inline totograph::Bucket single_column(const SeriesInput& input, const Options& options) {
    return {.variates = 1, .context = input.steps, .horizon = input.horizon, .samples = options.samples};
}

/// How many columns are forecast as a batch, each by itself; 1 where they are variates of one series.
inline totograph::Index columns_in_batch(const SeriesInput& input, const Options& options,
                                         const CheckpointModel& model) {
    return options.independent && input.exogenous.empty() ? batch_at_once(model, single_column(input, options)) : 1;
}

/// Which columns are forecast in one request. `columns` of them are a batch, each by itself (`columns_in_batch`).
inline std::vector<ColumnGroup> request_groups(const SeriesInput& input, const AnyModel& model,
                                               totograph::Index columns) {
    return columns > 1 ? divide_columns(input.targets.size(), static_cast<std::size_t>(columns))
                       : input_groups(input, model.most());
}

/// A group of columns as a request, which sees `part`.
inline totograph::Series request_series(const SeriesInput& part, const ColumnGroup& group, totograph::Index columns) {
    totograph::Series series = detail::series_view(part);
    if (columns > 1) {
        series.batch = std::exchange(series.variates, 1);
        series.groups = {};
    }
    series.first_series = static_cast<std::uint32_t>(group.first);
    return series;
}

/// How many of the model's horizons `--extend` puts behind each other at most: of the demo model 100 took 11 to 22 s on
/// two cores, and what they end with tells nothing of the series any more.
inline constexpr std::int64_t most_extension = 100;

/// Refuses a horizon beyond that, and says how long it would take, by what a few of the model's own take here. Throws
/// `Error(no_bucket)`.
inline void check_extension(const SeriesInput& input, const Options& options, const AnyModel& model,
                            totograph::Index columns) {
    const std::int64_t own = model.most().horizon;
    const std::int64_t most = most_extension * own;
    if (input.horizon <= most) {
        return;
    }
    const std::vector<ColumnGroup> groups = request_groups(input, model, columns);
    const SeriesInput part = columns_of(input, groups.front());
    totograph::Series series = request_series(part, groups.front(), columns);
    series.future_exogenous = {};
    totograph::ForecastOptions request = detail::library_options(input, options);
    constexpr std::int64_t few = 8;  // the history has grown to what the model sees
    request.horizon = few * own;
    const std::unique_ptr<AnyForecaster> forecaster = model.forecaster(series, request, options.threads);
    request.horizon = own;
    (void)forecaster->forecast(series, request);  // the first one of all takes longer
    request.horizon = few * own;
    const auto start = std::chrono::steady_clock::now();
    (void)forecaster->forecast(series, request);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / few;
    const std::int64_t steps = totograph::chunk_steps({.horizon = own}, model.patch_size());
    const std::int64_t chunks = (input.horizon + steps - 1) / steps;
    throw totograph::Error(
        totograph::ErrorCode::no_bucket,
        "--horizon " + count_text(input.horizon) + " takes " + plural(chunks, "forecast") +
            ", each from the medians of the one before, which is about " +
            rough_duration(seconds * static_cast<double>(chunks) * static_cast<double>(groups.size())) +
            " here; --extend goes no further than " + count_text(most) + " steps, " + std::to_string(most_extension) +
            " times as far as the model forecasts at once. Ask for fewer, or forecast longer steps, such "
            "as hours in place of minutes.");
}

/// Forecasts the input with a model, group by group where it has more columns than the model takes at once.
/// @param columns  how many of them are a batch, each by itself (`columns_in_batch`)
inline ForecastResult forecast_groups(const SeriesInput& input, const Options& options, const AnyModel& model,
                                      totograph::Index columns, const StageReport& report) {
    const totograph::ForecastOptions request = detail::library_options(input, options);
    const std::vector<ColumnGroup> groups = request_groups(input, model, columns);
    std::unique_ptr<AnyForecaster> forecaster;
    ForecastResult result;
    for (const ColumnGroup& group : groups) {
        const SeriesInput part = columns_of(input, group);
        const totograph::Series series = request_series(part, group, columns);
        if (forecaster == nullptr) {
            forecaster = model.forecaster(series, request, options.threads);  // the first group is the largest
        }
        report(Stage::forecast,
               "forecasting " + plural(input.horizon, "step") + detail::part_words(group, input, groups.size()),
               groups.size() == 1 ? -1 : static_cast<double>(group.first) / static_cast<double>(input.targets.size()));
        const totograph::Forecast forecast = forecaster->forecast(series, request);
        require_finite(forecast, input.horizon > model.most().horizon);
        detail::append(result, detail::summary(forecast, part, options));
    }
    return result;
}

/// The same with a checkpoint's model, which is opened only for a horizon that is refused.
inline void check_extension(const SeriesInput& input, const Options& options, const CheckpointModel& found) {
    if (input.horizon > most_extension * found.most.horizon) {
        check_extension(input, options, *open_model(found), columns_in_batch(input, options, found));
    }
}

/// Forecasts the input with a checkpoint's model.
inline ForecastResult run_forecast(const SeriesInput& input, const Options& options, const CheckpointModel& found,
                                   const StageReport& report) {
    report(Stage::checkpoint, "reading the weights", -1);
    const std::unique_ptr<AnyModel> model = open_model(found);
    return forecast_groups(input, options, *model, columns_in_batch(input, options, found), report);
}

/// Describes what would run for this input and these options.
inline ProgramDescription describe_program(const SeriesInput& input, const Options& options, const CompiledModel& model,
                                           const ModelSizes& most) {
    const SeriesInput first = columns_of(input, input_groups(input, most).front());
    return model.describe(detail::series_view(first), detail::library_options(input, options));
}

/// A page about that program, with times that are measured on the way.
inline std::string program_page(const SeriesInput& input, const Options& options, const CompiledModel& model,
                                const ModelSizes& most, const std::filesystem::path& checkpoint) {
    const SeriesInput first = columns_of(input, input_groups(input, most).front());
    return model.page(checkpoint, detail::series_view(first), detail::library_options(input, options), options.threads);
}

}  // namespace examples
