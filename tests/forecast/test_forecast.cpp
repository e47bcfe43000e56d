// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/forecast.hpp>

#include "io/support.hpp"

// The result of a forecast, from numbers whose statistics are known by hand.

using totograph::ErrorCode;
using totograph::Forecast;
using totograph::OwnedForecast;
using totograph::test::check_error;

namespace {

/// One series of two variates, two steps, four samples.
const std::vector<float> values{4, 1, 3, 2, -1, -1, -1, -1, 0, 10, 20, 30, 1.5F, -0.5F, 1.5F, -0.5F};
const Forecast sampled(values, 1, 2, 2, 4);
const std::vector<float> means{1, 2, 3, 4};
const Forecast mean_only(means, 2, 1, 2, 0);

using Values = std::vector<float>;

}  // namespace

TEST_CASE("shape and samples") {
    CHECK(sampled.batch() == 1);
    CHECK(sampled.variates() == 2);
    CHECK(sampled.horizon() == 2);
    CHECK(sampled.sample_count() == 4);
    CHECK(sampled.samples().data() == values.data());
    CHECK(sampled.samples().size() == values.size());
    CHECK(Forecast().mean().empty());
}

TEST_CASE("mean and standard deviation of samples") {
    CHECK(sampled.mean() == Values{2.5F, -1, 15, 0.5F});
    const auto deviations = sampled.stddev();
    REQUIRE(deviations.size() == 4);
    CHECK(deviations[0] == doctest::Approx(1.2909944487));  // sqrt(5 / 3)
    CHECK(deviations[1] == 0.0F);
    CHECK(deviations[2] == doctest::Approx(12.9099444874));  // sqrt(500 / 3)
    CHECK(deviations[3] == doctest::Approx(1.1547005384));   // sqrt(4 / 3)
}

TEST_CASE("the standard deviation does not cancel far from zero") {
    const Values far{16777216, 16777218, 16777214, 16777216};
    CHECK(Forecast(far, 1, 1, 1, 4).stddev()[0] == doctest::Approx(1.6329931619));  // sqrt(8 / 3)
}

TEST_CASE("quantiles lie on lines between sorted samples") {
    CHECK(sampled.median() == Values{2.5F, -1, 15, 0.5F});
    CHECK(sampled.quantile(0) == Values{1, -1, 0, -0.5F});
    CHECK(sampled.quantile(1) == Values{4, -1, 30, 1.5F});
    CHECK(sampled.quantile(0.25) == Values{1.75F, -1, 7.5F, -0.5F});  // position 0.75 of 0 to 3
    CHECK(sampled.quantile(0.5) == sampled.median());
    const auto high = sampled.quantile(0.9);  // position 2.7
    CHECK(high[0] == doctest::Approx(3.7));
    CHECK(high[2] == doctest::Approx(27));
    const Values one{5, 7};
    CHECK(Forecast(one, 1, 1, 2, 1).quantile(0.3) == one);
    CHECK(values == Values{4, 1, 3, 2, -1, -1, -1, -1, 0, 10, 20, 30, 1.5F, -0.5F, 1.5F, -0.5F});  // left as it was
}

TEST_CASE("quantile levels out of range") {
    for (const double level : {-0.001, 1.001, 90.0, -HUGE_VAL, HUGE_VAL, std::nan("")}) {
        check_error(ErrorCode::invalid_argument, {"quantile", "between 0 and 1"},
                    [&] { (void)sampled.quantile(level); });
    }
}

TEST_CASE("several quantiles at once are those one by one") {
    const std::vector<double> levels{0.9, 0, 0.5, 0.25, 1, 0.5};
    Values found(levels.size() * 4, -77);
    sampled.quantiles(levels, found);
    for (std::size_t level = 0; level < levels.size(); ++level) {
        const Values of_level(found.begin() + static_cast<std::ptrdiff_t>(level * 4),
                              found.begin() + static_cast<std::ptrdiff_t>(level * 4 + 4));
        CHECK(of_level == sampled.quantile(levels[level]));
    }
    Values in_braces(3 * 4);
    sampled.quantiles({0, 0.5, 1}, in_braces);
    CHECK(in_braces == Values{1, -1, 0, -0.5F, 2.5F, -1, 15, 0.5F, 4, -1, 30, 1.5F});
    const Values one{5, 7};
    Values of_one(2);
    Forecast(one, 1, 1, 2, 1).quantiles({0.3}, of_one);
    CHECK(of_one == one);
    Values many(10001);  // more than have room beside the call
    for (std::size_t i = 0; i < many.size(); ++i) {
        many[i] = static_cast<float>(i * 7919 % many.size());
    }
    Values of_many(2);
    Forecast(many, 1, 1, 1, 10001).quantiles({0.25, 0.99}, of_many);
    CHECK(of_many == Values{2500, 9900});
    sampled.quantiles({}, {});
}

TEST_CASE("NaN among samples comes last") {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    Values some(100, none);
    for (std::size_t i = 0; i < 40; ++i) {
        some[i * 2 + 1] = static_cast<float>(40 - i);
    }
    const Forecast forecast(some, 1, 1, 1, 100);
    CHECK(forecast.quantile(0) == Values{1});
    CHECK(forecast.quantile(38.5 / 99)[0] == doctest::Approx(39.5));
    CHECK(std::isnan(forecast.quantile(0.9)[0]));
    Values found(2);
    forecast.quantiles({0, 0.9}, found);
    CHECK(found[0] == 1);
    CHECK(std::isnan(found[1]));
}

TEST_CASE("a quantile that is a sample is that sample, whatever lies behind it") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const Values some{infinity, 2, -infinity, infinity, std::numeric_limits<float>::quiet_NaN()};
    const Forecast forecast(some, 1, 1, 1, 5);
    const std::vector<double> levels{0, 0.25, 0.5, 0.6, 0.75};
    const Values expected{-infinity, 2, infinity, infinity, infinity};
    Values found(levels.size());
    forecast.quantiles(levels, found);
    CHECK(found == expected);
    for (std::size_t level = 0; level < levels.size(); ++level) {
        CHECK(forecast.quantile(levels[level]) == Values{expected[level]});
    }
}

TEST_CASE("several quantiles are refused as one is, and without room for them") {
    Values room(4);
    check_error(ErrorCode::invalid_argument, {"quantiles", "between 0 and 1"}, [&] { sampled.quantiles({1.5}, room); });
    check_error(ErrorCode::invalid_argument, {"quantiles", "2 levels of 4 points", "room for 8 values, found 4"}, [&] {
        sampled.quantiles({0.1, 0.9}, room);
    });
    check_error(ErrorCode::invalid_argument, {"quantiles", "forecast of the mean"},
                [&] { mean_only.quantiles({0.5}, room); });
}

TEST_CASE("a forecast tells how many of its values were no finite numbers") {
    CHECK(sampled.is_finite());
    CHECK(sampled.not_finite() == 0);
    const Forecast bad(values, 1, 2, 2, 4, 3);
    CHECK(!bad.is_finite());
    CHECK(bad.not_finite() == 3);
    CHECK(bad.keep().not_finite() == 3);
    CHECK(!bad.keep().is_finite());
    CHECK(bad.keep().view().not_finite() == 3);
    CHECK(OwnedForecast().is_finite());
}

TEST_CASE("a kept forecast reads like the one that it was kept of") {
    const OwnedForecast kept = sampled.keep();
    CHECK(kept.batch() == 1);
    CHECK(kept.variates() == 2);
    CHECK(kept.horizon() == 2);
    CHECK(kept.sample_count() == 4);
    CHECK(Values(kept.samples().begin(), kept.samples().end()) == values);
    CHECK(Values(kept.values().begin(), kept.values().end()) == values);
    CHECK(sampled.with_context(9).keep().context() == 9);
    CHECK(kept.mean() == sampled.mean());
    CHECK(kept.stddev() == sampled.stddev());
    CHECK(kept.median() == sampled.median());
    CHECK(kept.quantile(0.9) == sampled.quantile(0.9));
    Values room(2 * 4);
    Values expected(2 * 4);
    const std::vector<double> levels{0.2, 0.7};
    kept.quantiles(levels, room);
    sampled.quantiles(levels, expected);
    CHECK(room == expected);
    kept.quantiles({0.2, 0.7}, room);
    CHECK(room == expected);
}

TEST_CASE("a forecast of the mean has a mean and no samples") {
    CHECK(mean_only.mean() == means);
    CHECK(mean_only.sample_count() == 0);
    const auto refuses = [](const char* name, auto&& method) {
        check_error(ErrorCode::invalid_argument, {name, "forecast of the mean", "samples > 0"}, method);
    };
    refuses("samples", [] { (void)mean_only.samples(); });
    refuses("stddev", [] { (void)mean_only.stddev(); });
    refuses("quantile", [] { (void)mean_only.quantile(0.5); });
    refuses("quantile", [] { (void)mean_only.median(); });
}

TEST_CASE("one sample has a mean and quantiles, but no standard deviation") {
    const Values one{5, 7};
    const Forecast forecast(one, 1, 1, 2, 1);
    CHECK(forecast.mean() == one);
    CHECK(forecast.median() == one);
    check_error(ErrorCode::invalid_argument, {"stddev", "at least 2 samples", "has 1"},
                [&] { (void)forecast.stddev(); });
}

TEST_CASE("a kept forecast has values of its own") {
    Values changing{1, 2, 3, 4};
    const OwnedForecast kept = Forecast(changing, 1, 1, 2, 2).keep();
    const OwnedForecast kept_mean = Forecast(changing, 2, 1, 2, 0).keep();
    changing.assign(4, 99);
    CHECK(kept.view().mean() == Values{1.5F, 3.5F});
    CHECK(kept.view().sample_count() == 2);
    CHECK(kept_mean.view().mean() == Values{1, 2, 3, 4});
    CHECK(kept_mean.view().batch() == 2);
    OwnedForecast copy = kept;
    copy = kept_mean;
    CHECK(copy.view().mean() == Values{1, 2, 3, 4});
    CHECK(OwnedForecast().view().mean().empty());
}
