// SPDX-License-Identifier: Apache-2.0
// Forecasts on streams of the caller's, whose results stay on the device.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
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

/// Numbers in the memory of the device that are there when a stream has come to here, which it has not for a while.
class OnDevice {
public:
    OnDevice(const std::vector<float>& values, const CallersStream& stream)
        : given_(values.size() * sizeof(float)), memory_(values.size() * sizeof(float)) {
        std::copy(values.begin(), values.end(), reinterpret_cast<float*>(given_.data()));
        REQUIRE(cudaMemsetAsync(memory_.data(), 0, memory_.size(), stream.stream) == cudaSuccess);
        delay(stream);
        REQUIRE(cudaMemcpyAsync(memory_.data(), given_.data(), memory_.size(), cudaMemcpyHostToDevice, stream.stream) ==
                cudaSuccess);
    }
    [[nodiscard]] const float* data() const { return reinterpret_cast<const float*>(memory_.data()); }

private:
    tg::cuda::PinnedMemory given_;
    tg::cuda::DeviceMemory memory_;
};

/// A request without its values.
tg::Series without_values(const replay::Request& request) {
    tg::Series series = request.series();
    series.values = {};
    return series;
}

/// With NaN for what is not observed.
std::vector<float> with_nan(const replay::Request& request) {
    std::vector<float> values = request.values;
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = request.observed[i] == 0 ? std::nanf("") : values[i];
    }
    return values;
}

/// `[batch, variates, steps]` as `[steps, batch, variates]`.
std::vector<float> steps_first(const replay::Request& request, const std::vector<float>& values) {
    std::vector<float> result;
    for (tg::Index step = 0; step < request.steps; ++step) {
        for (tg::Index row = 0; row < request.batch * request.variates; ++row) {
            result.push_back(values[static_cast<std::size_t>(row * request.steps + step)]);
        }
    }
    return result;
}

template <class Of>
std::vector<float> forecast_of(Of& forecaster, const tg::cuda::DeviceSeries& series, const tg::ForecastOptions& options,
                               const CallersStream& stream) {
    const tg::cuda::DeviceForecast found = forecaster.forecast_on(stream.stream, series, options);
    const HostResult host(found.size());
    host.copy(found, stream);
    CHECK(cudaStreamQuery(stream.stream) == cudaErrorNotReady);  // nobody has waited for the values
    stream.wait();
    CHECK(*found.not_finite == 0);
    return host.values();
}

/// Forecasts of a request whose values are on the device, in any order and with gaps marked here or there, against
/// those of the same values on the host.
template <tg::Bucket sizes>
void check_on_device(Forecaster<sizes>& forecaster, const tg::Bucket& part) {
    CAPTURE(tg::to_string(part));
    const auto request = request_for(part);
    const tg::ForecastOptions options{.seed = 3, .horizon = part.horizon, .samples = part.samples};
    const auto expected = values_of(forecaster.forecast(request.series(), options));
    (void)forecaster.forecast(request_for(sizes).series(), {.seed = 4});  // leaves other numbers everywhere
    const CallersStream stream;
    {
        const OnDevice values(with_nan(request), stream);
        tg::cuda::DeviceSeries series{.series = without_values(request), .values = values.data(), .nan_is_gap = true};
        series.series.observed = {};
        CHECK(is_same(forecast_of(forecaster, series, options, stream), expected));
    }
    {
        // Page-locked memory of the host is read by the device as well.
        const tg::cuda::PinnedMemory values(request.values.size() * sizeof(float));
        std::copy(request.values.begin(), request.values.end(), reinterpret_cast<float*>(values.data()));
        delay(stream);
        const tg::cuda::DeviceSeries series{.series = without_values(request),
                                            .values = reinterpret_cast<const float*>(values.data())};
        CHECK(is_same(forecast_of(forecaster, series, options, stream), expected));
    }
    {
        const OnDevice values(steps_first(request, request.values), stream);
        const tg::cuda::DeviceSeries series{.series = without_values(request),
                                            .values = values.data(),
                                            .strides = {part.variates, 1, part.batch * part.variates}};
        CHECK(is_same(forecast_of(forecaster, series, options, stream), expected));
    }
    CHECK(is_same(values_of(forecaster.forecast(request.series(), options)), expected));
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
        CHECK_THROWS_WITH_AS((void)forecaster.forecast(first.series()), doctest::Contains("had been moved from"),
                             tg::Error);
        CHECK_THROWS_AS((void)forecaster.forecast_on(stream.stream, first.series()), tg::Error);
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

TEST_CASE("values on the device give the forecast that they give on the host") {
    for (const auto capture : {tg::cuda::Capture::whole, tg::cuda::Capture::regional, tg::cuda::Capture::device_loop,
                               tg::cuda::Capture::none}) {
        CAPTURE(static_cast<int>(capture));
        Forecaster<bucket> forecaster(weights(), {.execution = {.capture = capture}});
        check_on_device<bucket>(forecaster, bucket);
        check_on_device<bucket>(forecaster, {.batch = 1, .variates = 2, .context = 29, .horizon = 16, .samples = 5});
    }
    Forecaster<mean> forecaster(weights());
    check_on_device<mean>(forecaster, mean);
    check_on_device<mean>(forecaster, {.batch = 1, .variates = 2, .context = 29, .horizon = 11});
}

TEST_CASE("of a context on the device that is longer than the bucket's, the newest steps are used") {
    Forecaster<mean> forecaster(weights());
    tg::Bucket longer = mean;
    longer.context += 19;
    const auto request = request_for(longer);
    replay::Request newest = request;
    newest.groups.clear();
    const auto expected = values_of(forecaster.forecast(newest.series()));
    const CallersStream stream;
    const OnDevice values(request.values, stream);
    const tg::cuda::DeviceSeries series{.series = without_values(newest), .values = values.data()};
    CHECK(is_same(forecast_of(forecaster, series, {}, stream), expected));
}

TEST_CASE("values on the device that cannot be used make a forecast that is not finite, and no more") {
    Forecaster<mean> forecaster(weights());
    replay::Request request = request_for(mean);
    const CallersStream stream;
    const auto told_of = [&](std::vector<float> values, bool nan_is_gap) {
        const OnDevice on_device(values, stream);
        const tg::cuda::DeviceSeries series{
            .series = {.batch = mean.batch, .variates = mean.variates, .steps = mean.context},
            .values = on_device.data(),
            .nan_is_gap = nan_is_gap};
        const auto found = forecaster.forecast_on(stream.stream, series);
        stream.wait();
        return *found.not_finite;
    };
    CHECK(told_of(request.values, true) == 0);
    std::vector<float> values = request.values;
    values[7] = std::nanf("");
    CHECK(told_of(values, true) == 0);
    // One value, and those of the forecast that it makes NaN.
    CHECK(told_of(values, false) > 1);
    values[7] = INFINITY;
    CHECK(told_of(values, true) > 1);
    values = request.values;
    std::fill_n(values.begin() + mean.context, mean.context, std::nanf(""));  // the second variate, taken for zeros
    CHECK(told_of(values, true) == 1);
    CHECK(told_of(request.values, true) == 0);
}

TEST_CASE("a series on the device whose values are elsewhere, or whose marks show none, is an error") {
    Forecaster<mean> forecaster(weights());
    replay::Request request = request_for(mean);
    const CallersStream stream;
    const OnDevice values(request.values, stream);
    const auto error_for = [&](const tg::cuda::DeviceSeries& series) {
        return error_of([&] { (void)forecaster.forecast_on(stream.stream, series); });
    };
    check_has(error_for({.series = request.series(), .values = values.data()}), "set DeviceSeries::values alone");
    check_has(error_for({.series = without_values(request)}), "set DeviceSeries::values alone");
    check_has(error_for({.series = without_values(request), .values = request.values.data()}),
              "memory that it does not read");
    const auto* const between = reinterpret_cast<const float*>(reinterpret_cast<const char*>(values.data()) + 2);
    check_has(error_for({.series = without_values(request), .values = between}), "begin between two floats");
    // It leaves the result before alone, and waits for nothing.
    stream.wait();
    std::vector<float> broken = request.values;
    broken[7] = INFINITY;
    const OnDevice unusable(broken, stream);
    const auto before =
        forecaster.forecast_on(stream.stream, {.series = without_values(request), .values = unusable.data()});
    CHECK_FALSE(error_for({.series = without_values(request), .values = between}).empty());
    CHECK(cudaStreamQuery(stream.stream) == cudaErrorNotReady);
    stream.wait();
    CHECK(*before.not_finite > 0);
    request.observed.pop_back();
    check_has(error_for({.series = without_values(request), .values = values.data()}), "observed should hold");
    request = request_for(mean);
    std::fill_n(request.observed.begin() + mean.context, mean.context, std::uint8_t{0});
    check_has(error_for({.series = without_values(request), .values = values.data()}),
              "variate 1 has no observed value at all");
    stream.wait();
}
