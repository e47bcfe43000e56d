// SPDX-License-Identifier: Apache-2.0
// What holds of forecasts on a device beyond one result: of two at once, and of those that cannot be.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "cuda/device_test.hpp"
#include "cuda/replay_requests.hpp"

using device_test::CallersStream;
using device_test::values_of;
using namespace replay;

namespace {

using enum tg::cuda::Precision;

template <tg::Bucket bucket, tg::cuda::Precision precision = f32>
using Forecaster = tg::cuda::Forecaster<Model, bucket, tg::cuda::ForecasterOptions{.precision = precision}>;

const auto& weights() {
    static const auto loaded = tg::toto::load<Model>(fixture::folder("mixture"));
    return loaded;
}

bool is_same(const std::vector<float>& expected, const tg::Forecast& forecast) {
    const auto found = forecast.samples();
    return found.size() == expected.size() &&
           std::memcmp(found.data(), expected.data(), expected.size() * sizeof(float)) == 0;
}

/// The error code that a call throws; -1 when it throws none.
template <class Call>
int error_of(Call&& call) {
    try {
        call();
    } catch (const tg::Error& error) {
        MESSAGE(error.what());
        return static_cast<int>(error.code());
    }
    return -1;
}

constexpr int device_failure = static_cast<int>(tg::ErrorCode::device_failure);
constexpr int no_bucket = static_cast<int>(tg::ErrorCode::no_bucket);

}  // namespace

TEST_CASE("two forecasters on two streams give what each gives alone") {
    Forecaster<sampled> first(weights());
    Forecaster<sampled> second(weights());
    const Request request = request_for(sampled);
    Request other = request_for(sampled);
    for (float& value : other.values) {
        value = 2.0F - value;
    }
    const auto expected_first = values_of(first.forecast(request.series(), {.seed = 1}));
    const auto expected_second = values_of(second.forecast(other.series(), {.seed = 2}));
    REQUIRE(expected_first != expected_second);
    const CallersStream left;
    const CallersStream right;
    std::vector<float> found_first(expected_first.size());
    std::vector<float> found_second(expected_second.size());
    int different = 0;
    for (int round = 0; round < 50; ++round) {
        const auto on_left = first.forecast_on(left.stream, request.series(), {.seed = 1});
        const auto on_right = second.forecast_on(right.stream, other.series(), {.seed = 2});
        REQUIRE(on_left.bucket == sampled);
        // Behind the forecasts, on their streams: the copies wait for them and for nothing else.
        REQUIRE(cudaMemcpyAsync(found_first.data(), on_left.values, found_first.size() * sizeof(float),
                                cudaMemcpyDeviceToHost, left.stream) == cudaSuccess);
        REQUIRE(cudaMemcpyAsync(found_second.data(), on_right.values, found_second.size() * sizeof(float),
                                cudaMemcpyDeviceToHost, right.stream) == cudaSuccess);
        REQUIRE(cudaStreamSynchronize(left.stream) == cudaSuccess);
        REQUIRE(cudaStreamSynchronize(right.stream) == cudaSuccess);
        different += found_first == expected_first && found_second == expected_second ? 0 : 1;
    }
    CHECK(different == 0);
}

TEST_CASE("the same seed draws what it draws on the CPU") {
    Forecaster<many_samples> forecaster(weights());
    const Request request = request_for(many_samples);
    const auto found = values_of(forecaster.forecast(request.series(), {.seed = seed}));
    const auto expected = samples_on_cpu();
    REQUIRE(found.size() == expected.size());
    double largest = 0;
    for (const float value : expected) {
        largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    std::size_t close = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double gap = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
        close += gap <= 1e-4 * largest ? 1U : 0U;  // NaN is not close
    }
    // A uniform number that lies at the boundary of two components, or at that of a rejection, may fall on either side
    // after another rounding: then a draw comes from another component, and those of later patches follow it.
    CHECK_MESSAGE(static_cast<double>(close) >= 0.999 * static_cast<double>(found.size()),
                  close << " of " << found.size());
}

TEST_CASE("a device that does not exist is an error") {
    CHECK(error_of([] { Forecaster<sampled> forecaster(weights(), {.device = 4096}); }) == device_failure);
    CHECK(error_of([] { Forecaster<sampled> forecaster(weights(), {.device = -1}); }) == device_failure);
}

TEST_CASE("requests that do not fit are errors, and leave the forecaster as it was") {
    Forecaster<sampled> forecaster(weights());
    const Request request = request_for(sampled);
    const auto expected = values_of(forecaster.forecast(request.series(), {.seed = seed}));
    const auto fails = [&](tg::Bucket sizes, tg::ForecastOptions options) {
        const Request wrong = request_for(sizes);
        CHECK(error_of([&] { (void)forecaster.forecast(wrong.series(), options); }) == no_bucket);
        CHECK(error_of([&] { (void)forecaster.forecast_on(nullptr, wrong.series(), options); }) == no_bucket);
        CHECK(is_same(expected, forecaster.forecast(request.series(), {.seed = seed})));
    };
    tg::Bucket larger = sampled;
    larger.batch = 3;
    fails(larger, {});
    larger = sampled;
    larger.variates = 4;
    fails(larger, {});
    larger = sampled;
    larger.context = 65;
    fails(larger, {});
    fails(sampled, {.horizon = 25});
    fails(sampled, {.samples = 13});
    fails(sampled, {.samples = 0});
}
