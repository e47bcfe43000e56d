// SPDX-License-Identifier: Apache-2.0
// What holds of forecasts on a device beyond one result: of many in a row, of parts of a bucket, of two at once, of
// those that cannot be.
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

#include "cuda/replay_requests.hpp"

using namespace replay;

namespace {

using enum tg::cuda::Precision;

template <tg::Bucket bucket, tg::cuda::Precision precision = f32>
using Forecaster = tg::cuda::Forecaster<Model, bucket, tg::cuda::ForecasterOptions{.precision = precision}>;

/// Of `sampled`, less of everything.
constexpr tg::Bucket part{.batch = 1, .variates = 2, .context = 29, .horizon = 16, .samples = 5};
constexpr tg::Bucket whole_mean{.batch = 2, .variates = 3, .context = 64, .horizon = 24};
constexpr tg::Bucket part_mean{.batch = 1, .variates = 2, .context = 29, .horizon = 11};

const auto& weights() {
    static const auto loaded = tg::toto::load<Model>(fixture::folder("mixture"));
    return loaded;
}

std::vector<float> values_of(const tg::Forecast& forecast) {
    return forecast.sample_count() == 0 ? forecast.mean()
                                        : std::vector<float>(forecast.samples().begin(), forecast.samples().end());
}

bool is_same(const std::vector<float>& expected, const tg::Forecast& forecast) {
    const auto found = forecast.samples();
    return found.size() == expected.size() &&
           std::memcmp(found.data(), expected.data(), expected.size() * sizeof(float)) == 0;
}

std::size_t free_memory() {
    std::size_t free = 0;
    std::size_t total = 0;
    REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
    return free;
}

/// Forecasts two requests in turn, a whole one and a part of the bucket, and compares each with its first result.
template <tg::cuda::Precision precision>
void check_many_forecasts() {
    constexpr int rounds = 5000;
    Forecaster<sampled, precision> forecaster(weights());
    const Request whole = request_for(sampled);
    const Request smaller = request_for(part);
    const tg::ForecastOptions as_part{.seed = 3, .horizon = part.horizon, .samples = part.samples};
    const auto expected = values_of(forecaster.forecast(whole.series(), {.seed = seed}));
    const auto expected_part = values_of(forecaster.forecast(smaller.series(), as_part));
    for (const float value : expected) {
        REQUIRE(std::isfinite(value));
    }
    std::size_t free_before = 0;
    int different = 0;
    for (int round = 1; round < rounds; ++round) {
        different += is_same(expected, forecaster.forecast(whole.series(), {.seed = seed})) ? 0 : 1;
        different += is_same(expected_part, forecaster.forecast(smaller.series(), as_part)) ? 0 : 1;
        if (round == 50) {
            free_before = free_memory();
        }
    }
    CHECK(different == 0);
    CHECK(free_memory() >= free_before);
}

/// A part of a bucket against a bucket of that size. Other sizes may run other algorithms, which sum in another order.
template <tg::Bucket whole, tg::Bucket smaller>
void check_part() {
    Forecaster<whole> large(weights());
    Forecaster<smaller> exact(weights());
    const Request request = request_for(smaller);
    tg::ForecastOptions as_part{.seed = seed, .horizon = smaller.horizon, .samples = smaller.samples};
    // What a request of the whole bucket leaves behind has no part in it.
    const Request before = request_for(whole);
    (void)large.forecast(before.series(), {.seed = 1});
    const auto found = values_of(large.forecast(request.series(), as_part));
    const auto expected = values_of(exact.forecast(request.series(), {.seed = seed}));
    fixture::check_close(tg::to_string(smaller) + " inside " + tg::to_string(whole), found, expected, 1e-6);
}

/// A stream of the test's own.
struct CallersStream {
    cudaStream_t stream = nullptr;
    CallersStream() { REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess); }
    CallersStream(const CallersStream&) = delete;
    CallersStream& operator=(const CallersStream&) = delete;
    ~CallersStream() { cudaStreamDestroy(stream); }
};

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

TEST_CASE("10,000 forecasts in f32 give the same bits, and no memory goes") {
    check_many_forecasts<f32>();
}

TEST_CASE("10,000 forecasts in bf16 give the same bits, and no memory goes") {
    check_many_forecasts<bf16>();
}

TEST_CASE("a part of a bucket is forecast as a bucket of its size forecasts it") {
    check_part<whole_mean, part_mean>();
    check_part<sampled, part>();
}

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
