// SPDX-License-Identifier: Apache-2.0
// A package for CUDA devices, loaded by a program that no CUDA compiler has seen. Needs a device.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <totograph/package/package.hpp>
#include <totograph/serve/service.hpp>

namespace tg = totograph;

TEST_CASE("a service of a package for a device forecasts what the one for the processor does") {
    const std::filesystem::path demo = std::string(TOTOGRAPH_MODELS) + "/demo";
    const tg::Package on_device(DEVICE_PACKAGE);
    CHECK(on_device.header().device == "cuda");
    tg::serve::BackendRegistry backends;
    on_device.add_backend(backends, demo);
    REQUIRE(backends.all().size() == 1);
    CHECK(backends.all().front()->name() == "cuda");
    const tg::Package on_processor(TINY_PACKAGE);
    tg::serve::BackendRegistry expected_backends;
    on_processor.add_backend(expected_backends, demo);

    std::vector<float> values;
    for (int i = 0; i < 3 * 80; ++i) {
        values.push_back(static_cast<float>(std::sin(0.3 * i) + 0.01 * i));
    }
    const tg::Series series{.variates = 3, .steps = 80, .values = values};
    tg::serve::ForecastService service(backends);
    tg::serve::ForecastService expected_service(expected_backends);
    const tg::Forecast found = service.forecast(series, {.horizon = 32, .samples = 0});
    const tg::Forecast expected = expected_service.forecast(series, {.horizon = 32, .samples = 0});
    REQUIRE(found.values().size() == expected.values().size());
    CHECK(found.not_finite() == 0);
    float largest = 0;
    float apart = 0;
    for (std::size_t i = 0; i < found.values().size(); ++i) {
        largest = std::max(largest, std::abs(expected.values()[i]));
        apart = std::max(apart, std::abs(found.values()[i] - expected.values()[i]));
    }
    // GEMMs in bf16 move forecasts of so small a model by 1% of a series' scale (examples/models/demo_cuda.cu).
    CHECK(apart < 0.03F * largest);
}

TEST_CASE("a service of a package for a device forecasts on a stream, from values on the device") {
    const tg::Package package(DEVICE_PACKAGE);
    tg::serve::BackendRegistry backends;
    package.add_backend(backends, std::string(TOTOGRAPH_MODELS) + "/demo");
    tg::serve::ForecastService service(backends);
    std::vector<float> values;
    for (int i = 0; i < 3 * 80; ++i) {
        values.push_back(static_cast<float>(std::sin(0.3 * i) + 0.01 * i));
    }
    const tg::Series series{.variates = 3, .steps = 80, .values = values};
    const tg::ForecastOptions options{.horizon = 32, .samples = 0};
    const tg::Forecast expected = service.forecast(series, options);

    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    float* memory = nullptr;
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&memory), values.size() * sizeof(float)) == cudaSuccess);
    const auto check = [&](const tg::cuda::DeviceForecast& made) {
        REQUIRE(made.size() == expected.values().size());
        std::vector<float> found(made.size());
        REQUIRE(cudaMemcpyAsync(found.data(), made.data, found.size() * sizeof(float), cudaMemcpyDeviceToHost,
                                stream) == cudaSuccess);
        REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
        CHECK(*made.not_finite == 0);
        CHECK(std::equal(found.begin(), found.end(), expected.values().begin()));  // the same kernels
    };
    check(service.forecast_on(stream, series, options));
    // With the steps of all variates side by side.
    std::vector<float> turned;
    for (std::size_t step = 0; step < 80; ++step) {
        for (std::size_t variate = 0; variate < 3; ++variate) {
            turned.push_back(values[variate * 80 + step]);
        }
    }
    REQUIRE(cudaMemcpy(memory, turned.data(), turned.size() * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);
    check(service.forecast_on(
        stream,
        tg::cuda::DeviceSeries{.series = {.variates = 3, .steps = 80}, .values = memory, .strides = {240, 1, 3}},
        options));
    cudaFree(memory);
    cudaStreamDestroy(stream);
}
