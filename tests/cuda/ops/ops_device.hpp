// SPDX-License-Identifier: Apache-2.0
#pragma once

// A model without weights, of which there are many here, makes nvcc say that a count is never below zero.
#pragma nv_diag_suppress 186

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/executor.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/program.hpp>

#include "cuda/ops/ops_states.hpp"
#include "support/tensor_sources.hpp"

// Models on the device, compared with the eager executor's results and timed.

namespace ops {

using tg::cuda::Precision;

/// How far a result may be from the reference.
struct Bound {
    double relative = 0;  ///< Of f32 states: of the tensor's largest magnitude; 0 asks for the same number.
    double f64 = 0;       ///< The same of f64 states. i32 states must be equal.
    double share = 1;     ///< The share of elements that must be so close.
};

/// For what only moves elements, and for operations that IEEE arithmetic rounds once.
inline constexpr Bound exact{};
/// f32 rounds as the reference does, in another order or with other approximations of the functions.
inline constexpr Bound in_f32{1e-5, 1e-12};

/// tf32 keeps 11 bits of a product's inputs, bf16 keeps 8, and each is rounded a few times in a row.
constexpr Bound bound_of(Precision precision) {
    return precision == Precision::f32    ? in_f32
           : precision == Precision::tf32 ? Bound{2e-3, 1e-12}
                                          : Bound{2e-2, 1e-12};
}

/// A state's elements as doubles, which hold every f32, f64 and i32.
inline std::vector<double> numbers_of(const Bytes& bytes, DType dtype) {
    const std::size_t width = tg::size_in_bytes(dtype);
    std::vector<double> numbers(bytes.size() / width);
    for (std::size_t at = 0; at < numbers.size(); ++at) {
        const auto get = [&]<class T>(T value) {
            std::memcpy(&value, bytes.data() + at * width, width);
            return static_cast<double>(value);
        };
        numbers[at] = dtype == DType::f32 ? get(float{}) : dtype == DType::f64 ? get(double{}) : get(std::int32_t{});
    }
    return numbers;
}

/// The f32 of bf16 numbers: their upper halves.
inline Bytes floats_of(const Bytes& rounded) {
    Bytes floats(rounded.size() * 2);
    for (std::size_t at = 0; at < rounded.size(); at += 2) {
        std::memcpy(floats.data() + at * 2 + 2, rounded.data() + at, 2);
    }
    return floats;
}

inline void check_state(const tg::StateSlot& slot, const Bytes& found_bytes, const Bytes& expected_bytes, Bound bound) {
    const auto found = numbers_of(found_bytes, slot.dtype);
    const auto expected = numbers_of(expected_bytes, slot.dtype);
    REQUIRE(found.size() == expected.size());
    double largest = 0;
    for (const double value : expected) {
        largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
    }
    const double allowed = slot.dtype == DType::f32   ? bound.relative * largest
                           : slot.dtype == DType::f64 ? bound.f64 * largest
                                                      : 0.0;
    std::size_t far = 0;
    double worst = 0;
    std::size_t worst_at = 0;
    for (std::size_t at = 0; at < found.size(); ++at) {
        const bool both_nan = std::isnan(found[at]) && std::isnan(expected[at]);
        const double gap = found[at] == expected[at] || both_nan ? 0.0 : std::abs(found[at] - expected[at]);
        far += gap <= allowed ? 0U : 1U;  // NaN on one side is far
        if (!(gap <= worst) && !std::isnan(worst)) {
            worst = gap;
            worst_at = at;
        }
    }
    const auto few = static_cast<double>(found.size()) * (1.0 - bound.share);
    CHECK_MESSAGE(static_cast<double>(far) <= few, "state ", std::string(slot.name), " ", slot.layer, " of shape ",
                  tg::to_string(slot.shape), ": ", far, " of ", found.size(), " are further than ", allowed,
                  " apart, the worst at ", worst_at, ": found ", found[worst_at], ", expected ", expected[worst_at]);
}

/// Prints what a run takes and what that comes to; for information. It runs everything forty times: a tool that slows
/// kernels down does without (`tools/check_cuda.sh` says so).
template <class Executor, class Program>
void print_time(const char* name, Precision precision, const Executor& executor, const tg::cuda::Stream& stream) {
    if (std::getenv("TOTOGRAPH_TESTS_WITHOUT_TIMES") != nullptr) {
        return;
    }
    constexpr int runs = 20;
    constexpr tg::StepFacts facts =
        tg::Facts<Program>::run(Executor::template streams<0> ? tg::DType::bf16 : tg::DType::f32);
    const tg::cuda::ReplayableGraph graph(stream, [&](cudaStream_t captured) {
        for (int run = 0; run < runs; ++run) {
            executor.template launch<0>(captured);
        }
    });
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    REQUIRE(cudaEventCreate(&begin) == cudaSuccess);
    REQUIRE(cudaEventCreate(&end) == cudaSuccess);
    graph.launch(stream.get());
    REQUIRE(cudaEventRecord(begin, stream.get()) == cudaSuccess);
    graph.launch(stream.get());
    REQUIRE(cudaEventRecord(end, stream.get()) == cudaSuccess);
    REQUIRE(cudaEventSynchronize(end) == cudaSuccess);
    float milliseconds = 0;
    REQUIRE(cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    const double seconds = static_cast<double>(milliseconds) * 1e-3 / runs;
    const auto bytes = static_cast<double>(facts.bytes_read + facts.bytes_written);
    std::printf("%-34s %-4s %3zu launches %9.2f us %9.1f GB/s %9.1f GFLOP/s\n", name, tg::cuda::name(precision),
                Executor::template launches<0>(), seconds * 1e6, bytes / seconds * 1e-9,
                static_cast<double>(facts.flops) / seconds * 1e-9);
}

/// Runs a model on the device, its memory poisoned but for what it reads, and compares all its states with those that
/// the reference left.
template <Precision precision, class Model>
void check_on_device(const char* name, const std::vector<StateContent>& expected, Bound bound,
                     const tg::cuda::Execution& execution = {}) {
    using Program = tg::Program<Model>;
    using Executor = tg::cuda::Executor<precision, Program>;
    using Layout = typename Executor::Layout;
    CAPTURE(name);
    CAPTURE(tg::cuda::name(precision));
    const tg::cuda::Device device = tg::cuda::describe_device(0);
    const Executor executor(tg::test::made_up_weights(), device, execution);
    const tg::cuda::Stream stream;
    executor.poison(stream.get());
    stream.synchronize();
    REQUIRE(expected.size() == Layout::count);
    for (std::size_t i = 0; i < Layout::count; ++i) {
        const tg::StateSlot& slot = Layout::entries[i].slot;
        if (!is_output(slot.name)) {
            const Bytes content = content_of<Model>(slot);
            REQUIRE(cudaMemcpy(executor.state(slot.name, slot.layer), content.data(), content.size(),
                               cudaMemcpyHostToDevice) == cudaSuccess);
        }
    }
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);  // a copy from pageable memory may return before it has arrived
    if constexpr (runs_of<Model>() == 1) {
        executor.template launch<0>(stream.get());
    } else {
        const tg::cuda::ReplayableGraph runs(stream, [&](cudaStream_t captured) {
            for (int run = 0; run < runs_of<Model>(); ++run) {
                executor.template launch<0>(captured);
            }
        });
        runs.launch(stream.get());
        stream.synchronize();  // the graph must outlive its run
    }
    stream.synchronize();
    for (std::size_t i = 0; i < Layout::count; ++i) {
        const tg::StateSlot& slot = Layout::entries[i].slot;
        const auto match = std::find_if(expected.begin(), expected.end(), [&](const StateContent& state) {
            return state.name == slot.name && state.layer == slot.layer;
        });
        REQUIRE(match != expected.end());
        const bool stores_bf16 = Executor::StateStorage::at(i);
        Bytes found(stores_bf16 ? match->bytes.size() / 2 : match->bytes.size());
        REQUIRE(cudaMemcpy(found.data(), executor.state(slot.name, slot.layer), found.size(), cudaMemcpyDeviceToHost) ==
                cudaSuccess);
        check_state(slot, stores_bf16 ? floats_of(found) : found, match->bytes, bound);
    }
    print_time<Executor, Program>(name, precision, executor, stream);
}

/// A row of a table fails alone: an exception would end the test of all others.
template <class Check>
void check_row(const char* name, Check&& check) {
    SUBCASE(name) {
        try {
            check();
        } catch (const tg::Error& error) {
            FAIL_CHECK(name, ": ", error.what());
        }
    }
}

}  // namespace ops
