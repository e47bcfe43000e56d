// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/bucket_set.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/cpu/forecaster.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/results/quantile_forecast.hpp>
#include <totograph/forecast/results/result_memory.hpp>

#include "forecast/smallest_family.hpp"
#include "io/support.hpp"
#include "support/tensor_sources.hpp"

// A family without a model of ours: whatever forecasts, forecasts it.

using namespace totograph;
using smallest_family::Model;
using smallest_family::Partial;

namespace {

static_assert(ForecastFamily<Model>);

// What `forecast_plan` refuses: levels that ascend not, or are no numbers, and patches without steps.
constexpr std::array<double, 2> same_levels{0.5, 0.5};
constexpr std::array<double, 3> no_levels{0.1, std::numeric_limits<double>::quiet_NaN(), 0.9};
static_assert(forecast_detail::are_levels(smallest_family::levels) && forecast_detail::are_levels({}));
static_assert(!forecast_detail::are_levels(same_levels) && !forecast_detail::are_levels(no_levels));
constexpr Bucket any_bucket{.context = 6, .horizon = 4};
static_assert(forecast_detail::fit({any_bucket, 1}, any_bucket, {}));
static_assert(!forecast_detail::fit({any_bucket, 0}, any_bucket, {}));

constexpr Bucket bucket{.batch = 2, .variates = 2, .context = 6, .horizon = 4};
const std::vector<float> history{1, 2, 3, 4, 10, 20, 30, 40, -1, -2, -3, -4, 5, 6, 7, 8};

Series series() {
    return {.batch = 2, .variates = 2, .steps = 4, .values = history};
}

/// Quantiles so many times the newest step.
template <class Any = Model>
ModelWeights<Any> weights(std::vector<float> factors = {0.5F, 1, 2}) {
    return {Weights(
        std::make_shared<test::TensorMap>(std::map<std::string, std::vector<float>>{{"factor", std::move(factors)}}))};
}

template <class Result>
void check(const Result& forecast, Index horizon) {
    CHECK(forecast.horizon() == horizon);
    CHECK(forecast.sample_count() == 0);
    CHECK(forecast.levels().size() == 3);
    const std::vector<float> median = forecast.median();
    REQUIRE(median.size() == static_cast<std::size_t>(4 * horizon));
    const float newest[] = {4, 40, -4, 8};
    for (std::size_t i = 0; i < median.size(); ++i) {
        const float expected = newest[i / static_cast<std::size_t>(horizon)];
        CHECK(median[i] == expected);
        CHECK(forecast.quantile(0.1)[i] == 0.5F * expected);
        CHECK(forecast.quantile(0.9)[i] == 2 * expected);
        CHECK(forecast.quantile(0.7)[i] == doctest::Approx(1.5F * expected));
    }
}

/// Of -0, a negative step, 4, and a step that overflows times the last factor.
void check_partial(const Forecast& forecast, Index horizon) {
    const std::span<const float> values = forecast.values();
    REQUIRE(values.size() == static_cast<std::size_t>(4 * horizon * 3));
    for (std::size_t i = 0; i < values.size(); ++i) {
        CAPTURE(i);
        const std::size_t row = i / static_cast<std::size_t>(3 * horizon);
        CHECK(std::isnan(values[i]) == (row == 1));
        CHECK(std::isinf(values[i]) == (row == 3 && i % 3 == 2));
        if (row != 1) {
            CHECK(std::signbit(values[i]) == (row == 0));
        }
    }
    CHECK(forecast.not_finite() == horizon * (3 + 1));
}

}  // namespace

TEST_CASE("a family of quantiles: every executor of the CPU gives them") {
    Forecaster<Model, bucket> fused(weights());
    check(fused.forecast(series()), 4);
    check(fused.forecast(series(), {.horizon = 3}), 3);
    EagerForecaster recorded(weights().weights, record_forecast<Model, bucket>());
    check(recorded.forecast(series(), {.horizon = 2}), 2);
    BucketSet<Model, bucket, Bucket{.batch = 2, .variates = 2, .context = 6, .horizon = 8}> set(weights());
    check(set.forecast(series(), {.horizon = 6}), 6);
}

TEST_CASE("a family of quantiles: what is kept is a forecast of quantiles, too") {
    Forecaster<Model, bucket> forecaster(weights());
    const OwnedQuantileForecast kept = forecaster.forecast(series()).keep();
    (void)forecaster.forecast(series(), {.horizon = 1});
    check(kept, 4);
    check(kept.view(), 4);
    const QuantileForecast told = kept.view().keep_in(ResultMemory(0)).with_context(3);
    CHECK(told.context() == 3);
    check(told, 4);
}

TEST_CASE("a family of quantiles: a request in parts, and one that goes on from medians") {
    constexpr Bucket half{.variates = 2, .context = 6, .horizon = 2};
    Forecaster<Model, half> forecaster(weights());
    check(forecaster.forecast(series(), {.horizon = 5, .extend = true}), 5);
}

TEST_CASE("a family of quantiles: what it cannot give is an error of a forecast whose type does not tell") {
    Forecaster<Model, bucket> forecaster(weights());
    const Forecast forecast = forecaster.forecast(series());
    test::check_error(ErrorCode::invalid_argument, {"mean: this is a forecast of quantiles"},
                      [&] { (void)forecast.mean(); });
    test::check_error(ErrorCode::invalid_argument, {"samples: this is a forecast of quantiles"},
                      [&] { (void)forecast.samples(); });
    test::check_error(ErrorCode::invalid_argument, {"quantiles from 0.1 to 0.9; the level 0.05 is beyond them"},
                      [&] { (void)forecast.quantile(0.05); });
    test::check_error(ErrorCode::invalid_argument, {"between 0 and 1, found 1.5."},
                      [&] { (void)forecast.quantile(1.5); });
    test::check_error(ErrorCode::no_bucket, {"16 samples"},
                      [&] { (void)forecaster.forecast(series(), {.samples = 16}); });
}

TEST_CASE("a family without marks: a zero keeps its sign, and what is no finite number stands there and is counted") {
    const std::vector<float> newest{-0.0F, -1, 4, 3.4e38F};
    const Series steps{.batch = 2, .variates = 2, .steps = 1, .values = newest};
    const auto factors = weights<Partial>({0.5F, 1, 3});
    Forecaster<Partial, bucket> fused(factors);
    check_partial(fused.forecast(steps), 4);
    check_partial(fused.forecast(steps, {.horizon = 3}), 3);
    EagerForecaster eager(factors.weights, record_forecast<Partial, bucket>());
    check_partial(eager.forecast(steps, {.horizon = 3}), 3);
    constexpr Bucket half{.variates = 2, .context = 6, .horizon = 4};
    EagerForecaster in_parts(factors.weights, record_forecast<Partial, half>());
    check_partial(in_parts.forecast(steps), 4);
}

namespace {

/// Of more memory than any machine can address.
constexpr Bucket huge{.batch = 1 << 16, .context = std::numeric_limits<std::int32_t>::max(), .horizon = 1};

}  // namespace

TEST_CASE("a forecaster that there is no memory for is an error that names its size") {
    const std::initializer_list<std::string_view> parts{
        "a forecaster of 65536 x 1 x 2147483647 -> 1, no samples, which takes at least 512 TiB", "this machine has",
        "compile a smaller size."};
    test::check_error(ErrorCode::out_of_memory, parts, [] { Forecaster<Model, huge> made(weights()); });
    test::check_error(ErrorCode::out_of_memory, parts,
                      [] { EagerForecaster made(weights().weights, record_forecast<Model, huge>()); });
}

TEST_CASE("a family's tensors are those that its programs read") {
    const auto tensors = checkpoint_tensors<Model>();
    REQUIRE(tensors.size() == 1);
    CHECK(tensors[0].name == "factor");
    CHECK(tensors[0].shape == Shape{3});
}

namespace {

template <class Forecaster>
void check_states_of(Forecaster& forecaster) {
    forecaster.fill(series(), bucket, 0);
    CHECK(forecaster.template read_state<std::int32_t>("length") == std::vector<std::int32_t>{4, 4});
    forecaster.write_state("length", std::vector<std::int32_t>{1, 4});
    forecaster.template run<0>();
    const std::vector<float> forecast = forecaster.template read_state<float>("forecast");
    CHECK(forecast.size() == 2 * 3 * 2 * 4);
    CHECK(forecast.front() == 0.5F);  // of the first step, which is now the newest of the first series
    const auto code = ErrorCode::invalid_argument;
    test::check_error(code, {"has a state 'lenth'"}, [&] { (void)forecaster.template read_state<float>("lenth"); });
    test::check_error(code, {"'length' is stored as i32 [2]", "2 elements of f32"},
                      [&] { (void)forecaster.template read_state<float>("length"); });
    test::check_error(code, {"3 elements of i32"}, [&] {
        forecaster.write_state("length", std::vector<std::int32_t>{1, 2, 3});
    });
}

}  // namespace

TEST_CASE("states are read and written by name, type and size") {
    Forecaster<Model, bucket> fused(weights());
    check_states_of(fused);
    EagerForecaster eager(weights().weights, record_forecast<Model, bucket>());
    check_states_of(eager);
}
