// SPDX-License-Identifier: Apache-2.0
// The kernel that writes a series of the device's memory to the inputs of a bucket, against what the host writes.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/forecast/cuda/gather_series.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/input_states.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/states.hpp>

#include "support/tensor_sources.hpp"

namespace tg = totograph;
using tg::Imputation;
using tg::Index;

namespace {

constexpr tg::Bucket bucket{.batch = 3, .variates = 4, .context = 700, .horizon = 8};
constexpr tg::ForecastSizes sizes(bucket, 8);
constexpr auto elements = static_cast<std::size_t>(bucket.batch * bucket.variates * sizes.context_steps());

struct Inputs {
    std::vector<float> series = std::vector<float>(elements, 77.0F);
    std::vector<float> observed = std::vector<float>(elements, 77.0F);

    friend bool operator==(const Inputs& a, const Inputs& b) {
        return std::memcmp(a.series.data(), b.series.data(), elements * sizeof(float)) == 0 &&
               std::memcmp(a.observed.data(), b.observed.data(), elements * sizeof(float)) == 0;
    }
};

/// What the host writes, and a family that imputes makes of it.
Inputs from_host(const tg::Series& series, Imputation how) {
    Inputs inputs;
    const auto find = [&](std::string_view name) -> void* {
        return name == tg::states::series     ? inputs.series.data()
               : name == tg::states::observed ? inputs.observed.data()
                                              : nullptr;
    };
    tg::InputStates(sizes, find).fill(series, bucket, 0);
    for (Index row = 0; row < bucket.batch * bucket.variates; ++row) {
        const Index first = row * sizes.context_steps();
        tg::impute(inputs.series.data() + first, inputs.observed.data() + first,
                   tg::round_up(series.steps, sizes.patch_size), how);
    }
    return inputs;
}

template <class T>
tg::cuda::DeviceMemory on_device(const std::vector<T>& values) {
    tg::cuda::DeviceMemory memory(values.size() * sizeof(T));
    REQUIRE(cudaMemcpy(memory.data(), values.data(), memory.size(), cudaMemcpyHostToDevice) == cudaSuccess);
    return memory;
}

Inputs from_device(const tg::cuda::DeviceSeries& given, Imputation how, const std::vector<float>& marks) {
    Inputs inputs;
    const auto series = on_device(inputs.series);
    const auto observed = on_device(marks.empty() ? inputs.observed : marks);
    const auto not_finite = on_device(std::vector<std::uint32_t>{0});
    tg::cuda::SeriesGather gather(given, given.series.steps, sizes, how);
    gather.has_marks = !marks.empty();
    gather.series = reinterpret_cast<float*>(series.data());
    gather.observed = reinterpret_cast<float*>(observed.data());
    gather.not_finite = reinterpret_cast<std::uint32_t*>(not_finite.data());
    const tg::cuda::Stream stream;
    gather.launch(stream.get());
    stream.synchronize();
    std::uint32_t told = 1;
    REQUIRE(cudaMemcpy(inputs.series.data(), series.data(), series.size(), cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(cudaMemcpy(inputs.observed.data(), observed.data(), observed.size(), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    REQUIRE(cudaMemcpy(&told, not_finite.data(), sizeof told, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(told == 0);
    return inputs;
}

/// Numbers of which some are missing: one in `every`, and all from `first` to before `last`.
void check_gaps(Index batch, Index variates, Index steps, int every, Index first, Index last) {
    CAPTURE(steps);
    CAPTURE(every);
    CAPTURE(first);
    std::vector<float> values;
    std::vector<std::uint8_t> observed;
    for (Index i = 0; i < batch * variates * steps; ++i) {
        const Index step = i % steps;
        const auto key = static_cast<std::uint64_t>(i);
        values.push_back(static_cast<float>(tg::test::uniform(key) * 8.0 - 3.0));
        const bool is_missing = (step >= first && step < last) ||
                                (every > 0 && static_cast<int>(tg::test::uniform(key + 99991) * 1e6) % every == 0);
        observed.push_back(is_missing ? 0 : 1);
    }
    for (Index row = 0; row < batch * variates; ++row) {
        observed[static_cast<std::size_t>(row * steps + (row % 2 == 0 ? steps / 2 : steps - 1))] = 1;  // any at all
    }
    std::vector<float> with_nan = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
        with_nan[i] = observed[i] == 0 ? std::nanf("") : values[i];
    }
    const auto memory = on_device(values);
    const auto memory_with_nan = on_device(with_nan);
    const tg::Series shape{.batch = batch, .variates = variates, .steps = steps};
    tg::Series host = shape;
    host.observed = observed;
    for (const Imputation how : {Imputation::as_given, Imputation::forward_fill, Imputation::linear}) {
        CAPTURE(static_cast<int>(how));
        host.values = with_nan;
        CHECK(
            from_device(
                {.series = shape, .values = reinterpret_cast<const float*>(memory_with_nan.data()), .nan_is_gap = true},
                how, {}) == from_host(host, how));
        host.values = values;
        const Inputs expected = from_host(host, how);
        tg::cuda::DeviceSeries marked{.series = shape, .values = reinterpret_cast<const float*>(memory.data())};
        CHECK(from_device(marked, how, from_host(host, Imputation::as_given).observed) == expected);
    }
}

}  // namespace

TEST_CASE("what the kernel writes is what the host writes, to the bit") {
    check_gaps(3, 4, 700, 0, 0, 0);
    check_gaps(3, 4, 700, 4, 0, 0);
    check_gaps(2, 3, 699, 4, 600, 699);
    check_gaps(1, 1, 300, 3, 0, 140);
    check_gaps(3, 2, 257, 2, 20, 250);
    check_gaps(1, 4, 5, 2, 0, 0);
    check_gaps(1, 1, 1, 0, 0, 0);
}

TEST_CASE("steps may lie in any order, the newest first among them") {
    constexpr Index steps = 90;
    std::vector<float> values(static_cast<std::size_t>(2 * 3 * steps));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i);
    }
    std::vector<float> backwards(values.rbegin(), values.rend());
    const auto memory = on_device(backwards);
    const tg::Series host{.batch = 2, .variates = 3, .steps = steps, .values = values};
    const auto* const last = reinterpret_cast<const float*>(memory.data()) + values.size() - 1;
    CHECK(from_device({.series = {.batch = 2, .variates = 3, .steps = steps},
                       .values = last,
                       .strides = {-3 * steps, -steps, -1}},
                      Imputation::as_given, {}) == from_host(host, Imputation::as_given));
}
