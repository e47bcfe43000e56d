// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/bucket.hpp>

#include "examples/repeating_model.hpp"
#include "forecast/options.hpp"
#include "forecast/run_forecast.hpp"
#include "forecast/series_input.hpp"
#include "models/model.hpp"
#include "serve/tuning/costly_backends.hpp"
#include "support/refusal.hpp"

// Columns that do not see each other, side by side as variates or as a batch.

using namespace examples;
using repeating_model::Asked;
using repeating_model::RepeatingModel;

namespace {

/// So many columns of three steps; the last value tells the column.
SeriesInput columns(std::size_t count) {
    SeriesInput input;
    input.steps = 3;
    input.horizon = 2;
    for (std::size_t column = 0; column < count; ++column) {
        input.targets.push_back("c" + std::to_string(column));
        input.levels.push_back(100);
        input.groups.push_back(static_cast<std::int32_t>(column));
        for (const int step : {0, 0, 1}) {
            input.values.push_back(static_cast<float>(step * static_cast<int>(column)));
            input.observed.push_back(1);
        }
    }
    return input;
}

ForecastResult forecast(const RepeatingModel& model, totograph::Index in_batch) {
    Options options;
    options.independent = true;
    options.samples = 5;
    return forecast_groups(columns(7), options, model, in_batch, [](Stage, const std::string&, double) {});
}

}  // namespace

TEST_CASE("a batch of columns has the forecasts of the columns, in their order") {
    const RepeatingModel packed;
    const RepeatingModel batched;
    const ForecastResult expected = forecast(packed, 1);
    const ForecastResult found = forecast(batched, 6);
    CHECK(packed.asked == std::vector<Asked>{{1, 4, true, 0}, {1, 3, true, 4}});
    CHECK(batched.asked == std::vector<Asked>{{4, 1, false, 0}, {3, 1, false, 4}});
    CHECK(found.series == 7);
    CHECK(found.mean == std::vector<double>{100, 100, 101, 101, 102, 102, 103, 103, 104, 104, 105, 105, 106, 106});
    CHECK(found.mean == expected.mean);
    CHECK(found.median == expected.median);
}

TEST_CASE("a horizon of very many forecasts is refused, with how long it would take") {
    const RepeatingModel model;
    Options options;
    options.samples = 5;
    SeriesInput input = columns(7);
    input.horizon = 100 * 16;
    CHECK_NOTHROW(check_extension(input, options, model, 1));
    CHECK(model.asked.empty());  // what is not refused costs nothing
    input.horizon = 100 * 16 + 1;
    const std::string sentence = refusal([&] { check_extension(input, options, model, 1); });
    CHECK(
        sentence.starts_with("--horizon 1,601 takes 101 forecasts, each from the medians of the one before, which is "
                             "about "));
    CHECK(sentence.find(" s here; --extend goes no further than 1,600 steps, 100 times") != std::string::npos);
    CHECK(model.asked.size() == 2);  // one that warms up, and one that is measured
}

TEST_CASE("what a device is compiled for is what its requests may hold") {
    using totograph::Bucket;
    costly_backends::World world;
    const auto on = [&](std::vector<Bucket> buckets) {
        CheckpointModel model;
        model.most = {.context = 1024, .horizon = 336, .variates = 16, .known = 4};
        model.variates_at_once = 8;
        return with_device(std::move(model), std::make_shared<costly_backends::CostlyBackend>(
                                                 world, "cuda", costly_backends::Cost{}, std::move(buckets)));
    };
    const Bucket lone{.variates = 4, .context = 512, .horizon = 96, .exogenous = 1};
    const CheckpointModel small = on({lone});
    CHECK(small.most.context == 512);
    CHECK(small.most.horizon == 96);
    CHECK(small.most.variates == 4);
    CHECK(small.most.known == 1);
    CHECK(small.variates_at_once == 4);
    CHECK(batch_at_once(small, {.variates = 1, .context = 16, .horizon = 8}) == 1);
    const CheckpointModel whole = on({lone,
                                      {.variates = 16, .context = 1024, .horizon = 336, .exogenous = 4},
                                      {.batch = 8, .variates = 1, .context = 2048, .horizon = 96}});
    CHECK(whole.most.context == 1024);
    CHECK(whole.most.variates == 16);
    CHECK(whole.variates_at_once == 8);
    CHECK(batch_at_once(whole, {.variates = 1, .context = 16, .horizon = 8}) == 8);
    // Threads are for the CPU alone.
    CHECK(threads_note(whole, 3).find("--threads 3 changes nothing.") != std::string::npos);
    CHECK(threads_note(whole, 0).empty());
    CHECK(threads_note({}, 3).empty());
}

TEST_CASE("a batch is as large as a bucket of one variate that holds a series") {
    using totograph::Bucket;
    const std::vector<Bucket> buckets{{.variates = 16, .context = 64, .horizon = 16, .samples = 8},
                                      {.batch = 8, .variates = 1, .context = 64, .horizon = 16, .samples = 8},
                                      {.batch = 32, .variates = 1, .context = 32, .horizon = 16, .samples = 8},
                                      {.batch = 64, .variates = 2, .context = 64, .horizon = 16, .samples = 8}};
    const auto largest = [&](totograph::Index context, totograph::Index samples) {
        return largest_batch(buckets, {.variates = 1, .context = context, .horizon = 16, .samples = samples});
    };
    CHECK(largest(32, 8) == 32);
    CHECK(largest(64, 8) == 8);
    CHECK(largest(65, 8) == 1);
    CHECK(largest(32, 0) == 1);
    CHECK(batch_at_once({}, buckets.front()) == 1);  // on the CPU
}
