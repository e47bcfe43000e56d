// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <vector>

#include "models/toto1/cases.hpp"
#include "models/toto1/series.hpp"

// The same seed gives the same samples, bit for bit, however the request is run.

using namespace made_up;
using Model = fixture::models::Small;

namespace {

constexpr tg::Bucket exact{.batch = 2, .variates = 2, .context = 24, .horizon = 20, .samples = 5};
constexpr tg::Bucket larger{.batch = 3, .variates = 4, .context = 48, .horizon = 32, .samples = 9};
constexpr tg::ForecastOptions as_exact{.seed = 42, .horizon = exact.horizon, .samples = exact.samples};

const auto& weights() {
    static const auto loaded = tg::load<Model>(fixture::folder("mixture"));
    return loaded;
}

Request request() {
    Request made = waves(2, 2, 24);
    made.first_series = 6;
    return made;
}

/// What the exact bucket says with one thread.
const tg::OwnedForecast& expected() {
    static const tg::OwnedForecast forecast = [] {
        tg::Forecaster<Model, exact> forecaster(weights(), {.threads = 1});
        return forecaster.forecast(request().series(), as_exact).keep();
    }();
    return forecast;
}

}  // namespace

TEST_CASE("the number of threads does not change samples") {
    for (const int threads : {1, 2, 3}) {
        CAPTURE(threads);
        tg::Forecaster<Model, exact> small(weights(), {.threads = threads});
        CHECK(different_bits(expected(), small.forecast(request().series(), as_exact)) == 0);
        tg::Forecaster<Model, larger> large(weights(), {.threads = threads});
        CHECK(different_bits(expected(), large.forecast(request().series(), as_exact)) == 0);
    }
}

TEST_CASE("repeated and reordered calls do not change samples") {
    tg::Forecaster<Model, larger> forecaster(weights(), {.threads = 2});
    const Request other = waves(3, 4, 48);
    const auto first = forecaster.forecast(request().series(), as_exact).keep();
    const auto second = forecaster.forecast(other.series(), {.seed = 1}).keep();
    const auto third = forecaster.forecast(waves(1, 1, 3).series(), {.seed = 2, .horizon = 9, .samples = 1}).keep();
    CHECK(different_bits(expected(), first.view()) == 0);
    CHECK(different_bits(third, forecaster.forecast(waves(1, 1, 3).series(), {2, 9, 1})) == 0);
    CHECK(different_bits(first, forecaster.forecast(request().series(), as_exact)) == 0);
    CHECK(different_bits(second, forecaster.forecast(other.series(), {.seed = 1})) == 0);
}

TEST_CASE("a series alone has the samples that it has inside a batch") {
    tg::Forecaster<Model, exact> small(weights(), {.threads = 1});
    tg::Forecaster<Model, larger> large(weights(), {.threads = 1});
    for (Index series = 0; series < 2; ++series) {
        CAPTURE(series);
        const Part alone{.first_series = series, .batch = 1, .variates = 2, .steps = 24};
        const Request one = part_of(request(), alone);
        const auto inside = part_of(expected().view(), alone, exact.horizon, exact.samples);
        CHECK(different_bits(inside, small.forecast(one.series(), as_exact)) == 0);
        CHECK(different_bits(inside, large.forecast(one.series(), as_exact)) == 0);
    }
    // Without its number, the second series would draw the numbers of the first.
    Request unnumbered = part_of(request(), {.first_series = 1, .batch = 1, .variates = 2, .steps = 24});
    unnumbered.first_series = 6;
    const auto inside = part_of(expected().view(), {.first_series = 1, .batch = 1, .variates = 2}, 20, 5);
    CHECK(different_bits(inside, small.forecast(unnumbered.series(), as_exact)) > 150);
}

TEST_CASE("fewer samples are the first of more, and a shorter horizon begins a longer one") {
    tg::Forecaster<Model, larger> forecaster(weights(), {.threads = 2});
    for (const Index samples : {1, 2, 4}) {
        for (const Index horizon : {1, 8, 11, 20}) {
            CAPTURE(samples);
            CAPTURE(horizon);
            const auto few = forecaster.forecast(request().series(), {42, horizon, samples});
            CHECK(few.sample_count() == samples);
            CHECK(different_bits(part_of(expected().view(), {.batch = 2, .variates = 2}, horizon, samples), few) == 0);
        }
    }
}

TEST_CASE("every bit of the seed counts") {
    tg::Forecaster<Model, exact> forecaster(weights(), {.threads = 1});
    const auto total = expected().view().samples().size();
    for (const unsigned bit : {0U, 1U, 31U, 32U, 63U}) {
        CAPTURE(bit);
        tg::ForecastOptions options = as_exact;
        options.seed ^= std::uint64_t{1} << bit;
        CHECK(different_bits(expected(), forecaster.forecast(request().series(), options)) > total * 9 / 10);
    }
}

TEST_CASE("samples of one series differ from each other, as do those of equal series and equal variates") {
    tg::Forecaster<Model, exact> forecaster(weights(), {.threads = 1});
    Request equal = waves(1, 1, 24);
    const std::vector<float> row = equal.values;
    equal.batch = 2;
    equal.variates = 2;
    for (int copy = 0; copy < 3; ++copy) {
        equal.values.insert(equal.values.end(), row.begin(), row.end());
    }
    const auto all = forecaster.forecast(equal.series(), as_exact);
    const auto points = static_cast<std::size_t>(exact.horizon);
    const auto samples = static_cast<std::size_t>(exact.samples);
    for (std::size_t a = 0; a < 4 * samples; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            std::size_t same = 0;
            for (std::size_t step = 0; step < points; ++step) {
                const auto at = [&](std::size_t path) {
                    return all.samples()[(path / samples * points + step) * samples + path % samples];
                };
                same += at(a) == at(b) ? 1U : 0U;
            }
            CHECK(same == 0);
        }
    }
}

TEST_CASE("samples, series and steps beyond the bucket have the bits that they have in one piece") {
    tg::Forecaster<Model, exact> small(weights(), {.threads = 1});
    tg::Forecaster<Model, larger> large(weights(), {.threads = 1});
    Request three = waves(3, 2, 24);
    three.first_series = 6;
    make_gaps(three);
    const tg::ForecastOptions options{.seed = 42, .horizon = exact.horizon, .samples = larger.samples};
    const auto whole = large.forecast(three.series(), options).keep();
    CHECK(whole.view().sample_count() == 9);
    CHECK(different_bits(whole, small.forecast(three.series(), options)) == 0);
    // Those from a number on, alone.
    tg::ForecastOptions later = as_exact;
    later.first_sample = 4;
    const auto last = small.forecast(three.series(), later).keep();
    for (std::size_t point = 0; point < 3 * 2 * 20; ++point) {
        for (std::size_t sample = 0; sample < 5; ++sample) {
            REQUIRE(last.view().samples()[point * 5 + sample] == whole.view().samples()[point * 9 + 4 + sample]);
        }
    }
    // A longer context is that of its newest steps.
    const Request longer = waves(2, 2, 40);
    const auto cut =
        small.forecast(part_of(longer, {.batch = 2, .variates = 2, .steps = 24}).series(), as_exact).keep();
    CHECK(different_bits(cut, small.forecast(longer.series(), as_exact)) == 0);
}

TEST_CASE("a horizon that is extended is a loop over forecasts and their medians") {
    tg::Forecaster<Model, exact> forecaster(weights(), {.threads = 1});
    const tg::ForecastOptions options{.seed = 42, .horizon = 37, .samples = 7, .extend = true};
    const auto extended = forecaster.forecast(request().series(), options).keep();
    Request now = request();
    std::size_t done = 0;
    for (const Index steps : {16, 16, 5}) {  // whole patches of 8, of the bucket's 20 steps
        const auto chunk = forecaster.forecast(
            now.series(),
            {.seed = tg::seed_of_chunk(42, static_cast<Index>(done / 16)), .horizon = steps, .samples = 7});
        for (std::size_t row = 0; row < 4; ++row) {
            for (std::size_t at = 0; at < static_cast<std::size_t>(steps) * 7; ++at) {
                REQUIRE(extended.view().samples()[(row * 37 + done) * 7 + at] ==
                        chunk.samples()[row * static_cast<std::size_t>(steps) * 7 + at]);
            }
        }
        const std::vector<float> medians = chunk.median();
        Request next{.batch = 2, .variates = 2, .steps = now.steps + steps};
        next.first_series = now.first_series;
        for (Index row = 0; row < 4; ++row) {
            next.values.insert(next.values.end(), now.values.begin() + row * now.steps,
                               now.values.begin() + (row + 1) * now.steps);
            next.values.insert(next.values.end(), medians.begin() + row * steps, medians.begin() + (row + 1) * steps);
        }
        now = next;
        done += static_cast<std::size_t>(steps);
    }
    CHECK(extended.view().horizon() == 37);
    CHECK(extended.view().context() == 24);
}
