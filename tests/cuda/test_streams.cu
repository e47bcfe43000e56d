// SPDX-License-Identifier: Apache-2.0
// Forecasts on streams of the caller's, whose results stay on the device.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "cuda/device_test.hpp"
#include "cuda/replay_requests.hpp"

using namespace device_test;
using replay::request_for;

namespace {

constexpr tg::Bucket bucket = replay::sampled;
constexpr tg::Bucket mean{.batch = 2, .variates = 3, .context = 64, .horizon = 24};

template <tg::Bucket sizes>
using Forecaster =
    tg::cuda::Forecaster<replay::Model, sizes, tg::cuda::ForecasterOptions{.precision = tg::cuda::Precision::f32}>;

const auto& weights() {
    static const auto loaded = tg::load<replay::Model>(fixture::folder("mixture"));
    return loaded;
}

/// Keeps a stream busy for longer than all forecasts of a test take.
void delay(const CallersStream& stream) {
    const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
    REQUIRE(cudaLaunchHostFunc(stream.stream, sleep, nullptr) == cudaSuccess);
}

/// Page-locked, so that a copy to it does not wait.
class HostResult {
public:
    explicit HostResult(std::size_t size) : memory_(size * sizeof(float)), size_(size) {}
    void copy(const tg::cuda::DeviceForecast& from, const CallersStream& stream) const {
        REQUIRE(cudaMemcpyAsync(memory_.data(), from.data, memory_.size(), cudaMemcpyDeviceToHost, stream.stream) ==
                cudaSuccess);
    }
    [[nodiscard]] std::vector<float> values() const {
        const auto* first = reinterpret_cast<const float*>(memory_.data());
        return {first, first + size_};
    }

private:
    tg::cuda::PinnedMemory memory_;
    std::size_t size_;
};

replay::Request other_request(const tg::Bucket& sizes) {
    replay::Request request = request_for(sizes);
    for (float& value : request.values) {
        value = 2.0F - value;
    }
    return request;
}

/// A forecast on a stream of a part of the bucket, against the same request in `forecast`.
template <tg::Bucket sizes>
void check_part(const tg::Bucket& part) {
    CAPTURE(tg::to_string(part));
    Forecaster<sizes> forecaster(weights());
    const auto request = request_for(part);
    const tg::ForecastOptions options{.seed = 3, .horizon = part.horizon, .samples = part.samples};
    const auto expected = values_of(forecaster.forecast(request.series(), options));
    (void)forecaster.forecast(request_for(sizes).series(), {.seed = 4});  // leaves other numbers everywhere
    const CallersStream stream;
    const tg::cuda::DeviceForecast found = forecaster.forecast_on(stream.stream, request.series(), options);
    REQUIRE(found.request.batch == part.batch);
    REQUIRE(found.request.variates == part.variates);
    REQUIRE(found.request.horizon == part.horizon);
    REQUIRE(found.request.samples == part.samples);
    REQUIRE(found.size() == expected.size());
    const HostResult host(expected.size());
    host.copy(found, stream);
    stream.wait();
    const auto all = host.values();
    std::vector<float> cut;
    for (tg::Index series = 0; series < part.batch; ++series) {
        for (tg::Index variate = 0; variate < part.variates; ++variate) {
            for (tg::Index step = 0; step < part.horizon; ++step) {
                for (tg::Index sample = 0; sample < std::max<tg::Index>(1, part.samples); ++sample) {
                    cut.push_back(all[static_cast<std::size_t>(found.offset(series, variate, step, sample))]);
                }
            }
        }
    }
    CHECK(is_same(cut, expected));
}

}  // namespace

TEST_CASE("a forecast on a stream of a part of the bucket has it where its offsets say") {
    check_part<bucket>(bucket);
    check_part<bucket>({.batch = 1, .variates = 2, .context = 29, .horizon = 16, .samples = 5});
    check_part<bucket>({.batch = 2, .variates = 3, .context = 64, .horizon = 3, .samples = 12});
    check_part<mean>(mean);
    check_part<mean>({.batch = 1, .variates = 2, .context = 29, .horizon = 11});
}

TEST_CASE("a forecast does not touch the inputs of one that has not run yet") {
    Forecaster<bucket> forecaster(weights());
    const auto first = request_for(bucket);
    const auto second = other_request(bucket);
    const auto expected_first = values_of(forecaster.forecast(first.series(), {.seed = 1}));
    const auto expected_second = values_of(forecaster.forecast(second.series(), {.seed = 2}));
    REQUIRE_FALSE(is_same(expected_first, expected_second));
    const CallersStream stream;
    const HostResult found_first(expected_first.size());
    const HostResult found_second(expected_second.size());
    SUBCASE("the next one is on the same stream") {
        delay(stream);
        found_first.copy(forecaster.forecast_on(stream.stream, first.series(), {.seed = 1}), stream);
        found_second.copy(forecaster.forecast_on(stream.stream, second.series(), {.seed = 2}), stream);
        stream.wait();
        CHECK(is_same(found_first.values(), expected_first));
        CHECK(is_same(found_second.values(), expected_second));
    }
    SUBCASE("the next one is on another stream") {
        const CallersStream other;
        delay(stream);
        (void)forecaster.forecast_on(stream.stream, first.series(), {.seed = 1});
        found_second.copy(forecaster.forecast_on(other.stream, second.series(), {.seed = 2}), other);
        CHECK(cudaStreamQuery(stream.stream) == cudaSuccess);  // waited for
        other.wait();
        CHECK(is_same(found_second.values(), expected_second));
    }
    SUBCASE("the next one waits for its result") {
        delay(stream);
        (void)forecaster.forecast_on(stream.stream, first.series(), {.seed = 1});
        CHECK(is_same(values_of(forecaster.forecast(second.series(), {.seed = 2})), expected_second));
    }
    SUBCASE("there is no next one") {
        auto* const moved = new Forecaster<bucket>(std::move(forecaster));
        delay(stream);
        (void)moved->forecast_on(stream.stream, first.series(), {.seed = 1});
        delete moved;
        CHECK(cudaStreamQuery(stream.stream) == cudaSuccess);  // its memory outlived what uses it
    }
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a result on the host stays while forecasts leave theirs on the device") {
    Forecaster<bucket> forecaster(weights());
    const auto request = request_for(bucket);
    const tg::Forecast view = forecaster.forecast(request.series(), {.seed = 1});
    const auto before = values_of(view);
    const CallersStream stream;
    (void)forecaster.forecast_on(stream.stream, other_request(bucket).series(), {.seed = 2});
    stream.wait();
    CHECK(is_same(values_of(view), before));
}
