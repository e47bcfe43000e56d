// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/results/quantile_samples.hpp>

#include "io/support.hpp"

using namespace totograph;

namespace {

constexpr std::array<double, 3> levels{0.1, 0.5, 0.9};
/// Two series of one variate and one step: -4, 0, 8 and 1, 1, 1.
const std::vector<float> quantiles{-4, 0, 8, 1, 1, 1};
const Forecast forecast(quantiles, 2, 1, 1, 0, 0, levels);

}  // namespace

TEST_CASE("samples have the quantiles that they are drawn from, also between and beyond the levels") {
    constexpr Index count = 20000;
    auto samples = sample_quantiles(forecast, count, {.seed = 5});
    REQUIRE(samples.size() == 2 * count);
    std::sort(samples.begin(), samples.begin() + count);
    // Lines: through (0.1, -4) and (0.5, 0), then (0.9, 8), on to the levels 0 and 1.
    for (const auto& point : {std::pair{0.02, -4.8}, {0.1, -4.0}, {0.3, -2.0}, {0.5, 0.0}, {0.7, 4.0}, {0.97, 9.4}}) {
        const double level = point.first;
        const double expected = point.second;
        CAPTURE(level);
        // The level of a quantile of n samples has the deviation sqrt(p (1 - p) / n), at most 0.0036; a level is 20.
        const auto found = samples[static_cast<std::size_t>(level * static_cast<double>(count))];
        CHECK(std::abs(static_cast<double>(found) - expected) < 4 * 0.0036 * 20);
    }
    CHECK(samples.front() >= -5.0F);
    CHECK(samples[count - 1] <= 10.0F);
    CHECK(std::all_of(samples.begin() + count, samples.end(), [](float value) { return value == 1.0F; }));
}

TEST_CASE("a draw is named by its series and its sample, wherever they stand") {
    const auto all = sample_quantiles(forecast, 4, {.seed = 7, .first_series = 3});
    const auto later = sample_quantiles(forecast, 2, {.seed = 7, .first_series = 3, .first_sample = 2});
    CHECK(later[0] == all[2]);
    CHECK(later[1] == all[3]);
    CHECK(sample_quantiles(forecast, 4, {.seed = 8, .first_series = 3}) != all);
    CHECK(sample_quantiles(forecast, 4, {.seed = 7, .first_series = 4})[0] != all[0]);
}

TEST_CASE("forecasts without quantiles have no quantile function") {
    const std::vector<float> means{1, 2};
    test::check_error(ErrorCode::invalid_argument, {"no quantiles"},
                      [&] { (void)sample_quantiles(Forecast(means, 2, 1, 1, 0), 3); });
    constexpr std::array<double, 1> median{0.5};  // no line goes through one point
    test::check_error(ErrorCode::invalid_argument, {"no quantiles"},
                      [&] { (void)sample_quantiles(Forecast(means, 2, 1, 1, 0, 0, median), 3); });
    test::check_error(ErrorCode::invalid_argument, {"1 or more, found 0"},
                      [&] { (void)sample_quantiles(forecast, 0); });
}

TEST_CASE("samples beyond the last number, and quantiles that are no numbers, are errors") {
    test::check_error(ErrorCode::invalid_argument, {"up to 4294967295", "4 from number 4294967293"},
                      [&] { (void)sample_quantiles(forecast, 4, {.first_sample = 4294967293U}); });
    CHECK(sample_quantiles(forecast, 3, {.first_sample = 4294967293U}).size() == 6);
    const Forecast overflowed(quantiles, 2, 1, 1, 0, 2, levels);
    test::check_error(ErrorCode::not_finite, {"2 quantiles are no finite numbers"},
                      [&] { (void)sample_quantiles(overflowed, 3); });
}
