// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/forecast.hpp>
#include <totograph/serve/metrics/expect_forecast.hpp>
#include <totograph/serve/metrics/online_accuracy.hpp>

#include "io/support.hpp"

using namespace totograph::serve;
using totograph::ErrorCode;
using totograph::test::check_error;

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

AccuracyEntry only(const OnlineAccuracy& accuracy) {
    const auto entries = accuracy.read();
    REQUIRE(entries.size() == 1);
    return entries.front();
}

}  // namespace

TEST_CASE("figures of a window, worked out by hand") {
    OnlineAccuracy accuracy;
    accuracy.expect("a", 10, std::array{1.0F, 2.0F, 3.0F, 4.0F}, std::array{0.0F, 1.0F, 2.0F, 3.0F},
                    std::array{2.0F, 3.0F, 4.0F, 5.0F});
    CHECK(accuracy.observe("a", 10, 0.0));  // +1, on the band's end
    CHECK(accuracy.observe("a", 13, 7.0));  // -3, outside; out of order
    CHECK(accuracy.observe("a", 11, 0.0));  // +2, outside
    const AccuracyEntry entry = only(accuracy);
    CHECK(entry.group == "a");
    CHECK(entry.scored == 3);
    CHECK(entry.window == 3);
    CHECK(entry.mae == doctest::Approx(2.0));
    CHECK(entry.rmse == doctest::Approx(std::sqrt(14.0 / 3.0)));
    CHECK(entry.bias == doctest::Approx(0.0));
    CHECK(entry.coverage == doctest::Approx(1.0 / 3.0));
}

TEST_CASE("an observation scores once, a gap and an unknown step do not") {
    OnlineAccuracy accuracy;
    accuracy.expect("a", 0, std::array{1.0F, 1.0F, std::numeric_limits<float>::infinity()});
    CHECK(accuracy.observe("a", 0, 1.0));
    CHECK_FALSE(accuracy.observe("a", 0, 1.0));
    CHECK_FALSE(accuracy.observe("a", 1, gap));
    CHECK_FALSE(accuracy.observe("a", 1, 1.0));  // the gap was its observation
    CHECK_FALSE(accuracy.observe("a", 2, 1.0));  // a forecast that is no number is none
    CHECK_FALSE(accuracy.observe("a", 9, gap));
    const AccuracyEntry entry = only(accuracy);
    CHECK(entry.scored == 1);
    CHECK(entry.missed == 3);
    CHECK(entry.banded == 0);
    CHECK(std::isnan(entry.coverage));
}

TEST_CASE("a band with an end that is no number is none") {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    OnlineAccuracy accuracy;
    accuracy.expect("a", 0, std::array{1.0F, 1.0F, 1.0F}, std::array{none, 0.0F, 0.0F}, std::array{2.0F, none, 2.0F});
    for (totograph::Index step = 0; step < 3; ++step) {
        CHECK(accuracy.observe("a", step, 1.0));
    }
    CHECK(only(accuracy).scored == 3);
    CHECK(only(accuracy).banded == 1);
    CHECK(only(accuracy).coverage == 1.0);
}

TEST_CASE("the newest forecast of a step counts") {
    OnlineAccuracy accuracy;
    accuracy.expect("a", 0, std::array{1.0F, 5.0F});
    accuracy.expect("a", 1, std::array{2.0F});
    CHECK(accuracy.observe("a", 1, 0.0));
    CHECK(only(accuracy).bias == doctest::Approx(2.0));
}

TEST_CASE("of a batch the series and the variate that are asked for are expected") {
    using detail::expect_forecast;
    const std::vector<float> means{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121};  // two series of three variates
    const totograph::Forecast forecast(means, 2, 3, 2, 0);
    for (totograph::Index row = 0; row < 6; ++row) {
        OnlineAccuracy accuracy;
        expect_forecast(accuracy, "a", 7, forecast, row / 3, row % 3);
        CHECK(accuracy.observe("a", 7, 0));
        CHECK(only(accuracy).bias == means[static_cast<std::size_t>(2 * row)]);
        CHECK(accuracy.observe("a", 8, 0));
    }
    OnlineAccuracy accuracy;
    for (const auto& [series, variate] : {std::pair{2, 0}, {0, 3}, {-1, 0}, {0, -1}}) {
        check_error(ErrorCode::invalid_argument, {"of 2 series and 3 variates"},
                    [&, s = series, v = variate] { expect_forecast(accuracy, "a", 0, forecast, s, v); });
    }
}

TEST_CASE("steps whose numbers would overflow are refused") {
    OnlineAccuracy accuracy;
    constexpr totograph::Index last = std::numeric_limits<totograph::Index>::max();
    CHECK_THROWS_WITH_AS(accuracy.expect("a", last - 1, std::array{1.0F, 2.0F, 3.0F}),
                         "OnlineAccuracy: a forecast of 3 steps begins at step 9223372036854775806, so that its last "
                         "steps have no number. Count from elsewhere.",
                         totograph::Error);
    CHECK_THROWS_AS(accuracy.expect("a", last, std::array{1.0F, 2.0F}), totograph::Error);
    accuracy.expect("a", last - 2, std::array{1.0F, 2.0F});
    CHECK(accuracy.observe("a", last - 1, 2.0));
    // The last numbers there are.
    accuracy.expect("a", last - 1, std::array{1.0F, 2.0F});
    CHECK(accuracy.observe("a", last, 2.0));
    accuracy.expect("a", last, std::array{1.0F});
    CHECK(accuracy.observe("a", last, 1.0));
}

TEST_CASE("series of a group do not take each other's place") {
    OnlineAccuracy accuracy;
    accuracy.expect({"shop", 1}, 10, std::array{100.0F});
    accuracy.expect({"shop", 2}, 10, std::array{1.0F});
    CHECK(accuracy.observe({"shop", 1}, 10, 100.0));
    CHECK(accuracy.observe({"shop", 2}, 10, 2.0));
    CHECK_FALSE(accuracy.observe("shop", 10, 2.0));
    CHECK(only(accuracy).scored == 2);
    CHECK(only(accuracy).mae == doctest::Approx(0.5));
}

TEST_CASE("forecasts longer than what may wait are scored, and one far ahead is in nobody's way") {
    OnlineAccuracy accuracy({.waiting = 3});
    accuracy.expect("a", 1000, std::array{1.0F, 1.0F});
    for (totograph::Index now = 0; now < 5; ++now) {
        accuracy.expect("a", now, std::array{1.0F, 2.0F, 3.0F, 4.0F, 5.0F});
        CHECK(accuracy.observe("a", now, 1.0));
    }
    CHECK(only(accuracy).scored == 5);
    CHECK(only(accuracy).missed == 0);
}

TEST_CASE("memory is bounded: old scores, old steps and further groups go") {
    OnlineAccuracy accuracy({.groups = 2, .waiting = 3, .window = 2});
    accuracy.expect("a", 0, std::array{1.0F, 2.0F, 3.0F, 4.0F});
    CHECK_FALSE(accuracy.observe("a", 3, 0.0));  // the farthest of four
    for (totograph::Index step = 0; step < 3; ++step) {
        CHECK(accuracy.observe("a", step, 0.0));
    }
    CHECK(only(accuracy).scored == 3);
    CHECK(only(accuracy).window == 2);
    CHECK(only(accuracy).mae == doctest::Approx(2.5));  // of 2 and 3
    accuracy.expect("b", 0, std::array{1.0F});
    check_error(ErrorCode::invalid_argument, {"'c' is one more than the 2"}, [&] { accuracy.observe("c", 0, 1.0); });
    CHECK(accuracy.read().size() == 2);
}

TEST_CASE("what cannot be is refused") {
    check_error(ErrorCode::invalid_argument, {"1 or more"}, [] { OnlineAccuracy({.window = 0}); });
    OnlineAccuracy accuracy;
    check_error(ErrorCode::invalid_argument, {"a forecast of 2 steps has a band of 1 and 1"}, [&] {
        accuracy.expect("a", 0, std::array{1.0F, 2.0F}, std::array{0.0F}, std::array{2.0F});
    });
    CHECK(accuracy.read().empty());
}
