// SPDX-License-Identifier: Apache-2.0
#include "../../examples/forecast/holdout.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../../examples/forecast/bounds_notes.hpp"
#include "../../examples/forecast/run_forecast.hpp"
#include "support/refusal.hpp"

using namespace examples;
using doctest::Approx;

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

SeriesInput input_of(std::vector<std::vector<double>> history, std::vector<std::vector<double>> truth = {}) {
    SeriesInput input;
    for (std::size_t at = 0; at < history.size(); ++at) {
        input.targets.push_back("series " + std::to_string(at));
    }
    input.levels.assign(history.size(), 0.0);
    input.history = std::move(history);
    input.truth = std::move(truth);
    return input;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a hold-out is scored beside the value of one season before") {
    const SeriesInput input = input_of({{10, 20, 12, 22, 14, 24}}, {{16, 26, gap}});
    ForecastResult result;
    result.series = 1;
    result.horizon = 3;
    result.mean = {0, 0, 0};
    result.median = {15, 27, 99};
    const Holdout holdout = holdout_scores(input, result, 2);
    REQUIRE(holdout.series.size() == 1);
    const HoldoutScore& score = holdout.series[0];
    CHECK(score.baseline == std::vector<double>{14, 24, 14});
    CHECK(score.mae == Approx(1));
    CHECK(score.baseline_mae == Approx(2));
    CHECK(score.mase == Approx(0.5));  // seasonal differences of the history are 2
    CHECK(score.baseline_mase == Approx(1));
    CHECK(score_words(score) == "MAE 1 (baseline 2), MASE 0.5 (1)");
}

TEST_CASE("without a hold-out there are no scores, and a constant history has no scale") {
    ForecastResult result;
    result.series = 1;
    result.horizon = 1;
    result.mean = {4};
    CHECK(holdout_scores(input_of({{1, 2}}), result, 1).series.empty());
    const HoldoutScore score = holdout_scores(input_of({{3, 3, 3}}, {{5}}), result, 1).series.at(0);
    CHECK(score.mae == Approx(1));
    CHECK(std::isnan(score.mase));
    CHECK(std::isnan(score.baseline_mase));
}

TEST_CASE("the mean absolute error skips gaps in the truth") {
    CHECK(mean_absolute_error({1, 2, 3}, {2, gap, 6}) == Approx(2));
    CHECK(std::isnan(mean_absolute_error({1}, {gap})));
}

TEST_CASE("the season of a hold-out fits into its history twice, unless it was asked for") {
    const Timeline months({"2026-01-01", "2026-02-01", "2026-03-01"});
    CHECK(holdout_season(0, months, 24) == 12);
    CHECK(holdout_season(0, months, 23) == 1);
    CHECK(holdout_season(7, months, 24) == 7);
    CHECK(holdout_season(0, Timeline(), 100) == 1);
    CHECK(naive_words(1) == "the last value");
    CHECK(naive_words(12) == "the value 12 steps before");
}

TEST_CASE("a season that is longer than the history is refused") {
    CHECK_NOTHROW(check_season(0, 5));
    CHECK_NOTHROW(check_season(5, 5));
    CHECK(refusal([] { check_season(6, 5); }) == "--season is 6 rows, but the history has 5 rows; use a smaller one.");
}

TEST_CASE("bounds clip quantiles, and the samples that the mean is taken of") {
    SeriesInput input = input_of({{9, 11}});
    input.levels = {10};  // samples count from there: 7, 9, 11, 13
    input.horizon = 1;
    const std::vector<float> samples = {-3, -1, 1, 3};
    const totograph::Forecast forecast(samples, 1, 1, 1, 4);
    Options options;
    options.samples = 4;
    options.quantiles = {0.25, 0.9};
    CHECK(detail::summary(forecast, input, options).mean[0] == Approx(10));
    options.bounds.low = 9;
    const ForecastResult above = detail::summary(forecast, input, options);
    CHECK(above.mean[0] == Approx(10.5));  // of 9, 9, 11, 13
    CHECK(above.deviation[0] == Approx(std::sqrt((2.25 + 2.25 + 0.25 + 6.25) / 3)));
    CHECK(above.median[0] == Approx(10));
    CHECK(above.quantiles[0].values[0] == 9);  // 8.5 unclipped, and no rounding is left
    CHECK(above.edges[0].values[0] == 9);
    options.bounds = {.high = 10.5};
    CHECK(detail::summary(forecast, input, options).quantiles[1].values[0] == 10.5);
    options.samples = 0;
    const std::vector<float> mean = {2};
    CHECK(detail::summary(totograph::Forecast(mean, 1, 1, 1, 0), input, options).mean[0] == 10.5);
    CHECK(std::isnan(options.bounds.clip(gap)));
}

TEST_CASE("of a model that forecasts quantiles these are shown, and no mean") {
    SeriesInput input = input_of({{9, 11}});
    input.levels = {10};
    input.horizon = 1;
    const std::vector<double> model_levels = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
    const std::vector<float> quantiles = {-4, -3, -2, -1, 0, 1, 2, 3, 8};
    const totograph::Forecast forecast(quantiles, 1, 1, 1, 0, 0, model_levels);
    Options options;
    options.quantiles = {0.25, 0.9};
    options.bounds.high = 16;
    resolve_for(options, "a model", model_levels);
    const ForecastResult result = detail::summary(forecast, input, options);
    CHECK(result.mean.empty());
    CHECK(result.deviation.empty());
    CHECK(result.samples == 0);
    CHECK(result.median == std::vector<double>{10});
    CHECK(std::string(result.line_name()) == "median");
    CHECK(result.quantiles[0].values[0] == Approx(7.5));
    CHECK(result.quantiles[1].values[0] == 16);
    REQUIRE(result.edges.size() == 4);
    CHECK(result.edges[0].level == 0.1);
    CHECK(result.edges[3].values[0] == 16);
    CHECK(result.edges[1].values[0] == Approx(7.5));
}

TEST_CASE("what a model that forecasts quantiles cannot give is refused") {
    const std::vector<double> model_levels = {0.1, 0.5, 0.9};
    Options options;
    options.quantiles = {0.1, 0.9};
    CHECK_NOTHROW(resolve_for(options, "a model", model_levels));
    CHECK_NOTHROW(resolve_for(options, "a model", {}));
    options.quantiles = {0.05, 0.9};
    CHECK_NOTHROW(resolve_for(options, "a model", {}));
    CHECK(refusal([&] { resolve_for(options, "A model", model_levels); }) ==
          "A model forecasts quantiles from 0.1 to 0.9, but --quantiles asks for 0.05; ask for some between these.");
    options.sampling = "--seed";
    CHECK_NOTHROW(resolve_for(options, "a model", {}));
    CHECK(
        refusal([&] { resolve_for(options, "a model", model_levels); }) ==
        "--seed is for models that draw futures, but a model forecasts quantiles, from 0.1 to 0.9, and draws nothing; "
        "leave it out.");
}

TEST_CASE("--min 0 is suggested where the forecast alone is below zero") {
    const SeriesInput input = input_of({{1, 0, gap}, {-1, 2}, {3, 4}, {5, 5}});
    ForecastResult result;
    result.series = 4;
    result.horizon = 1;
    result.mean = result.median = {1, -1, 1, 1};
    result.edges = {{0.05, {-1, -2, 1, -3}}};
    const std::vector<std::string> notes = bounds_notes(input, result, {});
    REQUIRE(notes.size() == 1);
    CHECK(has(notes[0], "'series 0' and 'series 3' goes below zero"));
    CHECK(has(notes[0], "--min 0"));
    result.edges.clear();
    CHECK(bounds_notes(input, result, {}).empty());
    result.median = {-1, -1, 1, 1};
    CHECK(bounds_notes(input, result, {}).size() == 1);
    const std::vector<std::string> outside = bounds_notes(input, result, {.low = 0, .high = 4});
    REQUIRE(outside.size() == 1);  // what --min clips needs no suggestion
    CHECK(has(outside[0], "'series 1' and 'series 3' lies outside of --min and --max"));
}

TEST_CASE("a note names a few series and counts the others") {
    const std::vector<std::string> names = {"a", "b", "c", "d", "e"};
    const auto first = [&](std::size_t count) {
        return names_where(names, [&](std::size_t at) { return at < count; });
    };
    CHECK(first(0).empty());
    CHECK(first(1) == "'a'");
    CHECK(first(3) == "'a', 'b' and 'c'");
    CHECK(first(5) == "'a', 'b', 'c' and 2 more");
}
