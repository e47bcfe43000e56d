// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "models/toto1/cases.hpp"
#include "models/toto1/series.hpp"

// Padding invariance with exogenous variates: labels of variates, and known futures.

using namespace made_up;
using Model = fixture::models::Exogenous;

namespace {

constexpr tg::Bucket largest{.batch = 2, .variates = 5, .context = 64, .horizon = 32, .exogenous = 2};
constexpr tg::Bucket smaller{.batch = 1, .variates = 3, .context = 21, .horizon = 12, .exogenous = 1};

const auto& weights() {
    static const auto loaded = tg::load<Model>(fixture::folder("exogenous"));
    return loaded;
}

Request request(bool knows_future) {
    Request made = waves(1, 3, 21);
    make_gaps(made);
    made.exogenous = 1;
    if (knows_future) {
        const auto future = waves(1, 1, 12).values;
        made.future.assign(future.begin(), future.end());
    }
    return made;
}

}  // namespace

TEST_CASE("exogenous variates, their future known or not, in a larger bucket") {
    tg::Forecaster<Model, smaller> exact(weights(), {.threads = 1});
    tg::Forecaster<Model, largest> large(weights(), {.threads = 2});
    for (const bool knows_future : {true, false}) {
        CAPTURE(knows_future);
        const Request made = request(knows_future);
        const auto expected = exact.forecast(made.series()).keep();
        const auto found = large.forecast(made.series(), {.horizon = smaller.horizon});
        CHECK(different_bits(expected, found) == 0);
        const auto values = found.mean();
        const std::vector<float> last(values.end() - smaller.horizon, values.end());
        CHECK((last == made.future) == knows_future);
    }
}

TEST_CASE("a bucket without exogenous variates forecasts them like any other, but knows their labels") {
    constexpr tg::Bucket without{.batch = 1, .variates = 3, .context = 24, .horizon = 12};
    tg::Forecaster<Model, smaller> with_room(weights(), {.threads = 1});
    tg::Forecaster<Model, without> without_room(weights(), {.threads = 1});
    Request made = request(false);
    const auto labelled = with_room.forecast(made.series()).keep();
    CHECK(different_bits(labelled, without_room.forecast(made.series())) == 0);
    made.exogenous = 0;
    const auto targets = with_room.forecast(made.series()).keep();
    CHECK(different_bits(targets, without_room.forecast(made.series())) == 0);
    CHECK(different_bits(labelled, targets.view()) > 0);
}

TEST_CASE("known futures of the batch's other series, and of other variates, stay where they belong") {
    tg::Forecaster<Model, largest> forecaster(weights(), {.threads = 2});
    Request made = waves(2, 4, 30);
    made.exogenous = 2;
    made.future = waves(2, 2, 19).values;
    const auto forecast = forecaster.forecast(made.series(), {.horizon = 19});
    const auto values = forecast.mean();
    for (std::ptrdiff_t row = 0; row < 4; ++row) {
        CAPTURE(row);
        const auto series = row / 2;
        const auto variate = 2 + row % 2;
        CHECK(std::equal(made.future.begin() + row * 19, made.future.begin() + (row + 1) * 19,
                         values.begin() + (series * 4 + variate) * 19));
    }
}
