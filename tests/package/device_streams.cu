// SPDX-License-Identifier: Apache-2.0
// A package for CUDA devices forecasts on a stream of the caller's, from a series in the device's memory, and leaves
// the result there. Needs a device.
#include <doctest/doctest.h>

#include <dlfcn.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/c/totograph.h>

namespace {

constexpr std::int64_t variates = 3;
constexpr std::int64_t steps = 80;
constexpr std::int64_t row = 96;  // further apart than the steps reach
constexpr std::int64_t horizon = 32;

template <class Function>
Function* function(const char* name) {
    static void* const library = dlopen(DEVICE_PACKAGE, RTLD_NOW);
    REQUIRE(library != nullptr);
    void* const found = dlsym(library, name);
    REQUIRE_MESSAGE(found != nullptr, name);
    return reinterpret_cast<Function*>(found);
}
#define CALL(name) function<decltype(totograph_##name)>("totograph_" #name)

std::vector<float> waves() {
    std::vector<float> values(static_cast<std::size_t>(variates * row), std::nanf(""));
    for (std::int64_t variate = 0; variate < variates; ++variate) {
        for (std::int64_t step = 0; step < steps; ++step) {
            values[static_cast<std::size_t>(variate * row + step)] =
                static_cast<float>(std::sin(0.3 * static_cast<double>(step + 7 * variate)));
        }
    }
    values[5] = std::nanf("");  // a gap
    return values;
}

/// Memory of the device that holds numbers.
struct OnDevice {
    explicit OnDevice(const std::vector<float>& values) {
        REQUIRE(cudaMalloc(&data, values.size() * sizeof(float)) == cudaSuccess);
        REQUIRE(cudaMemset(data, 0, values.size() * sizeof(float)) == cudaSuccess);
    }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
    ~OnDevice() { cudaFree(data); }
    float* data = nullptr;
};

}  // namespace

TEST_CASE("a forecast on a stream of the caller's reads the device's memory, and leaves its result there") {
    totograph_error error = TOTOGRAPH_ERROR_INIT;
    totograph_model* model = nullptr;
    totograph_service* service = nullptr;
    const std::string checkpoint = std::string(TOTOGRAPH_MODELS) + "/demo";
    REQUIRE_MESSAGE(CALL(model_open)(checkpoint.c_str(), &model, &error) == TOTOGRAPH_OK, error.sentence);
    REQUIRE_MESSAGE(CALL(service_create)(model, nullptr, &service, &error) == TOTOGRAPH_OK, error.sentence);

    const std::vector<float> values = waves();
    totograph_series series = TOTOGRAPH_SERIES_INIT;
    totograph_request request = TOTOGRAPH_REQUEST_INIT;
    series.batch = 1;
    series.variates = variates;
    series.steps = steps;
    series.values = values.data();
    series.values_strides[0] = variates * row;
    series.values_strides[1] = row;
    series.values_strides[2] = 1;
    series.nan_is_gap = 1;
    request.horizon = horizon;
    request.samples = TOTOGRAPH_MEAN;
    totograph_forecast* on_host = nullptr;
    REQUIRE_MESSAGE(CALL(service_forecast)(service, &series, &request, &on_host, &error) == TOTOGRAPH_OK,
                    error.sentence);
    std::vector<float> expected(static_cast<std::size_t>(variates * horizon));
    REQUIRE(CALL(forecast_mean)(on_host, expected.data(), nullptr, &error) == TOTOGRAPH_OK);
    CALL(forecast_release)(on_host);

    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    const OnDevice device(values);
    // What fills the memory is on the same stream, and has not run when the forecast is asked for.
    REQUIRE(cudaMemcpyAsync(device.data, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice,
                            stream) == cudaSuccess);
    for (const bool is_on_device : {true, false}) {
        CAPTURE(is_on_device);
        series.values = is_on_device ? device.data : values.data();
        totograph_device_forecast made = TOTOGRAPH_DEVICE_FORECAST_INIT;
        REQUIRE_MESSAGE(
            CALL(service_forecast_on)(service, stream, &series, &request,
                                      is_on_device ? TOTOGRAPH_SERIES_ON_DEVICE : 0U, &made, &error) == TOTOGRAPH_OK,
            error.sentence);
        CHECK(made.batch == 1);
        CHECK(made.variates == variates);
        CHECK(made.horizon == horizon);
        CHECK(made.value_count == 1);
        std::vector<float> found(expected.size());
        REQUIRE(cudaMemcpyAsync(found.data(), made.values, found.size() * sizeof(float), cudaMemcpyDeviceToHost,
                                stream) == cudaSuccess);
        REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
        CHECK(*made.not_finite == 0);
        CHECK(found == expected);  // the same kernels on the same inputs
    }

    // Another stream waits for that of the forecast.
    cudaStream_t reader = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking) == cudaSuccess);
    totograph_device_forecast read = TOTOGRAPH_DEVICE_FORECAST_INIT;
    const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
    REQUIRE(cudaLaunchHostFunc(stream, sleep, nullptr) == cudaSuccess);
    REQUIRE(CALL(service_forecast_on)(service, stream, &series, &request, 0, &read, &error) == TOTOGRAPH_OK);
    REQUIRE_MESSAGE(CALL(service_wait_stream)(service, reader, stream, &error) == TOTOGRAPH_OK, error.sentence);
    std::vector<float> found(expected.size());
    REQUIRE(cudaMemcpyAsync(found.data(), read.values, found.size() * sizeof(float), cudaMemcpyDeviceToHost, reader) ==
            cudaSuccess);
    REQUIRE(cudaStreamSynchronize(reader) == cudaSuccess);
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
    CHECK(found == expected);
    cudaStreamDestroy(reader);

    request.horizon = 2 * horizon;
    request.extend = 1;
    totograph_device_forecast made = TOTOGRAPH_DEVICE_FORECAST_INIT;
    CHECK(CALL(service_forecast_on)(service, stream, &series, &request, 0, &made, &error) == TOTOGRAPH_NO_BUCKET);
    cudaStreamDestroy(stream);
    CALL(service_destroy)(service);
    CALL(model_close)(model);
}
