// SPDX-License-Identifier: Apache-2.0
// What a device may refuse, and what is then left behind: nothing.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "cuda/device_test.hpp"
#include "cuda/replay_requests.hpp"

using namespace device_test;

namespace {

/// All GEMMs are the library's, whose workspace makes it larger than what a full device has left.
using Forecaster = tg::cuda::Forecaster<replay::Model, replay::sampled,
                                        tg::cuda::ForecasterOptions{.precision = tg::cuda::Precision::tf32}>;

const auto& weights() {
    static const auto loaded = tg::load<replay::Model>(fixture::folder("mixture"));
    return loaded;
}

std::vector<float> forecast(Forecaster& forecaster) {
    const auto request = replay::request_for(replay::sampled);
    return values_of(forecaster.forecast(request.series(), {.seed = replay::seed}));
}

}  // namespace

TEST_CASE("memory that is not there is an error with the bytes asked for and free") {
    std::size_t free = 0;
    std::size_t total = 0;
    REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
    const std::size_t held = tg::cuda::held_memory().device;
    const std::size_t asked = total + total / 2;
    const std::string message = error_of([&] { const tg::cuda::DeviceMemory memory(asked); });
    check_has(message, "out_of_memory: ");
    check_has(message, std::to_string(asked) + " bytes of device memory were asked for");
    check_has(message, " of " + std::to_string(total) + " are free");
    CHECK(cudaGetLastError() == cudaSuccess);  // later calls are not blamed for it
    CHECK(tg::cuda::held_memory().device == held);
}

TEST_CASE("a forecaster that does not fit is an error, and one that fits afterwards works") {
    std::vector<float> expected;
    {
        Forecaster forecaster(weights());
        expected = forecast(forecaster);
    }
    {
        // All memory but what is too little for a forecaster.
        std::vector<tg::cuda::DeviceMemory> hoard;
        std::size_t part = free_memory();
        while (part >= (std::size_t{4} << 20U)) {
            try {
                hoard.emplace_back(part);
            } catch (const tg::Error&) {
                part /= 2;
            }
        }
        REQUIRE(Forecaster::device_bytes() > 2 * part);
        const std::string message = error_of([] { Forecaster forecaster(weights()); });
        check_has(message, "out_of_memory: ");
        check_has(message, "are free; use smaller sizes");
    }
    const std::size_t held = tg::cuda::held_memory().device;
    {
        Forecaster forecaster(weights());
        CHECK(is_same(forecast(forecaster), expected));
        CHECK(tg::cuda::held_memory().device == held + Forecaster::device_bytes());
    }
    CHECK(tg::cuda::held_memory().device == held);
}

TEST_CASE("what a forecaster takes is what its report says") {
    const auto fresh = tg::load<replay::Model>(fixture::folder("mixture"));
    const std::size_t device_before = tg::cuda::held_memory().device;
    const std::size_t pinned_before = tg::cuda::held_memory().pinned;
    constexpr tg::cuda::MemoryReport report = Forecaster::memory();
    const Forecaster forecaster(fresh);
    CHECK(tg::cuda::held_memory().device - device_before == report.device());
    CHECK(tg::cuda::held_memory().pinned - pinned_before == report.pinned);
    CHECK(report.own() == Forecaster::device_bytes());
    CHECK(report.caches > 0);
    // Another one shares the weights.
    const std::size_t one = tg::cuda::held_memory().device;
    const Forecaster second(fresh);
    CHECK(tg::cuda::held_memory().device - one == report.own());
}

TEST_CASE("a device that does not exist is an error that says how many there are") {
    int count = 0;
    int before = -1;
    REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
    REQUIRE(cudaGetDevice(&before) == cudaSuccess);
    for (const int index : {count, count + 1, 4096, -1}) {
        const std::string message = error_of([&] { Forecaster forecaster(weights(), {.device = index}); });
        check_has(message, "device_failure: ");
        check_has(message,
                  "device " + std::to_string(index) + " was asked for, and there are " + std::to_string(count));
    }
    int after = -1;
    REQUIRE(cudaGetDevice(&after) == cudaSuccess);
    CHECK(before == after);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("streams are used again, by one at a time") {
    std::set<unsigned long long> seen;  // addresses of streams that are gone may come again, numbers do not
    const auto number = [](const tg::cuda::Stream& stream) {
        unsigned long long id = 0;
        REQUIRE(cudaStreamGetId(stream.get(), &id) == cudaSuccess);
        return id;
    };
    for (int round = 0; round < 40; ++round) {
        const tg::cuda::Stream first;
        tg::cuda::Stream second;
        CHECK(number(first) != number(second));
        seen.insert({number(first), number(second)});
        const tg::cuda::Stream moved(std::move(second));
        CHECK(cudaStreamQuery(moved.get()) == cudaSuccess);
    }
    CHECK(seen.size() == 2);
    SUBCASE("each for what it was used for") {
        const tg::cuda::Stream graphs(tg::cuda::StreamUse::graphs);
        CHECK_FALSE(seen.contains(number(graphs)));
    }
    SUBCASE("not one that is being captured") {
        unsigned long long captured = 0;
        {
            const tg::cuda::Stream stream;
            captured = number(stream);
            REQUIRE(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal) == cudaSuccess);
        }
        CHECK(cudaGetLastError() == cudaSuccess);
        const tg::cuda::Stream first;
        const tg::cuda::Stream second;
        CHECK(number(first) != captured);
        CHECK(number(second) != captured);
    }
}

TEST_CASE("a capture that fails is an error, and leaves the stream as it was") {
    const tg::cuda::Stream stream;
    const tg::cuda::DeviceMemory memory(1024);
    const auto clear = [&](cudaStream_t to) {
        tg::cuda::check(cudaMemsetAsync(memory.data(), 1, memory.size(), to), "clearing memory");
    };
    const auto check_stream_works = [&] {
        CHECK(cudaGetLastError() == cudaSuccess);
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
        REQUIRE(cudaStreamIsCapturing(stream.get(), &status) == cudaSuccess);
        CHECK(status == cudaStreamCaptureStatusNone);
        const tg::cuda::ReplayableGraph graph(stream, clear);
        CHECK(graph.node_count() == 1);
        graph.launch(stream.get());
        stream.synchronize();
    };
    SUBCASE("what is captured throws") {
        const std::string message = error_of([&] {
            const tg::cuda::ReplayableGraph graph(stream, [&](cudaStream_t to) {
                clear(to);
                throw tg::Error(tg::ErrorCode::invalid_argument, "of the test");
            });
        });
        CHECK(message == "invalid_argument: of the test");
        check_stream_works();
    }
    SUBCASE("what is captured does what a capture forbids, and nobody looks") {
        const std::string message = error_of([&] {
            const tg::cuda::ReplayableGraph graph(stream, [&](cudaStream_t to) {
                clear(to);
                (void)cudaStreamSynchronize(to);
            });
        });
        check_has(message, "device_failure: cuda: ending a capture failed");
        check_stream_works();
    }
    SUBCASE("the stream is being captured already") {
        const std::string message = error_of([&] {
            const tg::cuda::ReplayableGraph outer(stream, [&](cudaStream_t to) {
                clear(to);
                const tg::cuda::ReplayableGraph inner(stream, clear);
            });
        });
        check_has(message, "device_failure: cuda: beginning a capture failed");
        check_stream_works();
    }
}
