// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/bucket_set.hpp>
#include <totograph/serve.hpp>

#include "forecast/second_family/family.hpp"
#include "forecast/second_family/request.hpp"

// Whatever forecasts, forecasts with a family that it does not know.

using namespace totograph;
using namespace second_family;

namespace {

static_assert(ForecastFamily<Small>);

ModelWeights<Small> weights() {
    return untrained<Small>(3);
}

std::vector<float> values_of(const Forecast& forecast) {
    return {forecast.values().begin(), forecast.values().end()};
}

/// Rounding of f32, of the magnitude of a row: a few dozen operations in another order.
void check_same(const std::vector<float>& found, const std::vector<float>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
    }
}

}  // namespace

TEST_CASE("a second family: fused and eager agree, and quantiles are those of its levels") {
    const Request request;
    Forecaster<Small, exact> fused(weights());
    const QuantileForecast forecast = fused.forecast(request.series());
    const std::vector<float> expected = values_of(forecast);
    CHECK(expected.size() == 2 * 3 * 12 * 3);
    CHECK(forecast.is_finite());
    CHECK(forecast.median()[5] == expected[5 * 3 + 1]);
    EagerForecaster recorded(weights().weights, record_forecast<Small, exact>());
    check_same(values_of(recorded.forecast(request.series())), expected);
}

TEST_CASE("a second family: padding changes nothing, groups and variates do") {
    const Request request;
    EagerForecaster smaller(weights().weights, record_forecast<Small, exact>());
    EagerForecaster padded(weights().weights, record_forecast<Small, larger>());
    const std::vector<float> expected = values_of(smaller.forecast(request.series()));
    check_same(values_of(padded.forecast(request.series())), expected);
    Request together;
    together.groups.assign(6, 0);
    CHECK(values_of(smaller.forecast(together.series())) != expected);
}

TEST_CASE("a second family: a bucket set, and a service, also for requests in parts") {
    const Request request;
    EagerForecaster reference(weights().weights, record_forecast<Small, exact>());
    const std::vector<float> expected = values_of(reference.forecast(request.series()));
    constexpr Bucket one{.variates = 3, .context = 20, .horizon = 12};
    BucketSet<Small, one> set(weights());
    check_same(values_of(set.forecast(request.series())), expected);

    serve::BackendRegistry backends;
    serve::add_cpu_backend<Small, one>(backends, weights());
    serve::ForecastService service(backends, {.backend = "cpu"});
    const Forecast served = service.forecast(request.series());
    CHECK(served.levels().size() == 3);
    check_same(values_of(served), expected);
    const serve::Explanation explanation = service.explain(one);
    REQUIRE(explanation.programs.size() == 1);
    CHECK(explanation.programs[0].name == "forecast");
    CHECK(explanation.programs[0].runs == 1);
}

TEST_CASE("a second family: the checkpoint's tensors are those of both kinds of layers") {
    const auto tensors = checkpoint_tensors<Small>();
    CHECK(tensors.size() == 6 + 4 * 10);
    const auto has = [&](const char* name) {
        return std::any_of(tensors.begin(), tensors.end(), [&](const NamedShape& each) { return each.name == name; });
    };
    CHECK(has("layers.3.key.weight"));
    CHECK(has("frequencies"));
}
