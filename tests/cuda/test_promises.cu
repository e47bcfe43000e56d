// SPDX-License-Identifier: Apache-2.0
// What a forecast promises to do without: between its request and its result the host allocates nothing, captures
// nothing, launches one graph, copies the result once and waits once; one whose result stays on the device neither
// copies nor waits.
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "cuda/count_calls.hpp"
#include "models/toto1/case_list.hpp"
#include "models/toto1/series.hpp"

using namespace made_up;
using Model = fixture::models::Small;
using Counts = std::map<std::string, int>;

namespace {

constexpr tg::Bucket many_samples{.variates = 2, .context = 40, .horizon = 24, .samples = 128};
constexpr tg::Bucket sampled{.variates = 2, .context = 40, .horizon = 24, .samples = 8};
constexpr tg::Bucket mean{.variates = 2, .context = 40, .horizon = 24};

constexpr std::size_t bytes_of_result(const tg::Bucket& bucket) {
    const tg::Index values = bucket.samples > 0 ? bucket.samples : 1;
    return static_cast<std::size_t>(bucket.batch * bucket.variates * bucket.horizon * values) * sizeof(float);
}

std::string text_of(const Counts& counts) {
    std::string text;
    for (const auto& [name, count] : counts) {
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
    }
    return text;
}

/// The calls of the CUDA runtime that `run` makes.
template <class Run>
Counts calls_of(Run&& run) {
    calls::forget();
    run();
    return calls::counted();
}

void check_calls(const Counts& found, const Counts& expected) {
    CHECK_MESSAGE(found == expected, "found ", text_of(found), "; expected ", text_of(expected));
}

template <tg::Bucket bucket, tg::cuda::Precision precision>
void check_promises() {
    const auto weights = tg::load<Model>(fixture::folder("mixture"));
    using Forecaster = tg::cuda::Forecaster<Model, bucket, tg::cuda::ForecasterOptions{.precision = precision}>;
    // Inputs travel in a kernel of the graph.
    static_assert(Forecaster::Executor::template waits_first<0>() &&
                  tg::cuda::can_copy_few(Forecaster::Executor::States::input_bytes));
    // What is counted is what there is to count.
    calls::forget();
    Forecaster forecaster(weights);
    const Counts made = calls::counted();
    CHECK(made.contains("cudaMalloc"));
    CHECK(made.contains("cudaStreamBeginCapture"));
    CHECK(made.contains("cudaGraphInstantiate"));
    CHECK(made.contains("cudaStreamSynchronize"));

    const Request request = waves(bucket.batch, bucket.variates, bucket.context);
    const Request shorter = part_of(request, {.variates = 1, .steps = 19});
    const tg::Series whole = request.series();
    const tg::Series part = shorter.series();
    const Counts one_replay{{"cudaGraphLaunch", 1}};
    // A result of more than 16 KiB is copied to the host by a kernel, a smaller one is written there by the graph.
    static_assert(bytes_of_result(bucket) <= tg::cuda::result_bytes_by_kernel);
    constexpr int copies = bytes_of_result(bucket) > tg::cuda::few_bytes ? 1 : 0;
    const auto check_forecast = [&](int replays, const tg::Series& series, const tg::ForecastOptions& options) {
        Counts found = calls_of([&] { (void)forecaster.forecast(series, options); });
        int launches = 0;  // versions of nvcc launch by functions of other names
        for (const char* const name : {"cudaLaunchKernel", "cudaLaunchKernelExC", "__cudaLaunchKernel"}) {
            if (const auto launch = found.find(name); launch != found.end()) {
                launches += launch->second;
                found.erase(launch);
            }
        }
        CHECK(launches <= copies);
        check_calls(found, {{"cudaGraphLaunch", replays}, {"cudaStreamSynchronize", 1}});
    };
    for (int call = 0; call < 3; ++call) {
        CAPTURE(call);
        check_forecast(1, whole, {.seed = 1});
        // A shorter context and fewer variates are data; a shorter horizon replays as many steps as it has.
        check_forecast(1, part, {.seed = 2});
        check_forecast(3, part, {.seed = 2, .horizon = 13});
    }
    cudaStream_t stream = nullptr;
    const Counts created =
        calls_of([&] { REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess); });
    CHECK(created.contains("cudaStreamCreateWithFlags"));
    for (int call = 0; call < 3; ++call) {
        CAPTURE(call);
        check_calls(calls_of([&] { (void)forecaster.forecast_on(stream, whole, {.seed = 1}); }), one_replay);
        REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    }
    // Of values on the device: what the host has of the request is copied, and a kernel brings them.
    const tg::cuda::DeviceMemory values(whole.values.size_bytes());
    REQUIRE(cudaMemcpy(values.data(), whole.values.data(), values.size(), cudaMemcpyHostToDevice) == cudaSuccess);
    tg::cuda::DeviceSeries on_device{.series = whole, .values = reinterpret_cast<const float*>(values.data())};
    on_device.series.values = {};
    for (int call = 0; call < 3; ++call) {
        CAPTURE(call);
        Counts found = calls_of([&] { (void)forecaster.forecast_on(stream, on_device, {.seed = 1}); });
        found.erase("cudaLaunchKernel");  // versions of nvcc launch by functions of other names
        Counts expected{{"cudaGraphLaunch", 1}, {"cudaMemcpyAsync", 1}};
        if (call == 0) {
            expected["cudaGraphNodeSetEnabled"] = 1;
        }
        check_calls(found, expected);
        REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    }
    check_calls(calls_of([&] { (void)forecaster.forecast_on(stream, whole, {.seed = 1}); }),
                {{"cudaGraphLaunch", 1}, {"cudaGraphNodeSetEnabled", 1}});
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    // A forecast that finds one before it unfinished waits for it, once.
    const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
    REQUIRE(cudaLaunchHostFunc(stream, sleep, nullptr) == cudaSuccess);
    const auto two = calls_of([&] {
        (void)forecaster.forecast_on(stream, whole, {.seed = 1});
        (void)forecaster.forecast_on(stream, whole, {.seed = 1});
    });
    check_calls(two, {{"cudaGraphLaunch", 2}, {"cudaEventSynchronize", 1}});
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    cudaStreamDestroy(stream);
    // One that is made after another is gone needs no stream of its own, and brings no graph to the device ahead:
    // either would make all launches of the process slower.
    const auto make_another = [&] { const Forecaster another(weights); };
    make_another();
    const Counts again = calls_of(make_another);
    CHECK(again.contains("cudaGraphInstantiate"));
    // Each of its graphs once, so that the first forecast has nothing left to bring there.
    CHECK(again.at("cudaGraphLaunch") == static_cast<int>(forecaster.captures()));
    CHECK_FALSE(again.contains("cudaStreamCreateWithFlags"));
    CHECK_FALSE(again.contains("cudaGraphUpload"));
}

}  // namespace

TEST_CASE("a forecast of samples in f32 is one replay and one wait") {
    check_promises<sampled, tg::cuda::Precision::f32>();
}

TEST_CASE("a forecast of the mean in bf16 is one replay and one wait") {
    check_promises<mean, tg::cuda::Precision::bf16>();
}

TEST_CASE("a forecast of many samples is one replay, one copy and one wait") {
    static_assert(bytes_of_result(many_samples) > tg::cuda::few_bytes && bytes_of_result(mean) <= tg::cuda::few_bytes);
    check_promises<many_samples, tg::cuda::Precision::bf16>();
}
