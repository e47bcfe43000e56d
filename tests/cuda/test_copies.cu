// SPDX-License-Identifier: Apache-2.0
// Copies by kernels between the device and page-locked memory of the host.
#include <cstddef>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/exec/cuda/runtime/copy_few.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>

#include "cuda/device_test.hpp"

namespace {

namespace tg = totograph;

std::vector<float> numbers(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(i) + 0.5F;
    }
    return values;
}

}  // namespace

TEST_CASE("a result of any size is copied to the host, and nothing behind it") {
    constexpr std::size_t most = tg::cuda::result_bytes_by_kernel / sizeof(float);
    constexpr std::size_t behind = 8;
    const tg::cuda::Stream stream;
    const std::vector<float> values = numbers(most);
    const tg::cuda::DeviceMemory device(most * sizeof(float));
    REQUIRE(cudaMemcpy(device.data(), values.data(), most * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);
    const tg::cuda::PinnedMemory host((most + behind) * sizeof(float));
    const auto* const found = reinterpret_cast<const float*>(host.data());
    for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{1023},
                                    std::size_t{1025}, std::size_t{4098}, most}) {
        CAPTURE(count);
        std::memset(host.data(), 0xff, (most + behind) * sizeof(float));
        tg::cuda::copy_result(host.data(), device.data(), count, stream.get());
        stream.synchronize();
        CHECK(std::memcmp(found, values.data(), count * sizeof(float)) == 0);
        const std::vector<unsigned char> untouched(behind * sizeof(float), 0xff);
        CHECK(std::memcmp(found + count, untouched.data(), untouched.size()) == 0);
    }
}

TEST_CASE("few bytes are copied to the device") {
    const tg::cuda::Stream stream;
    const std::vector<float> values = numbers(tg::cuda::few_bytes / sizeof(float));
    const tg::cuda::PinnedMemory host(tg::cuda::few_bytes);
    std::memcpy(host.data(), values.data(), tg::cuda::few_bytes);
    const tg::cuda::DeviceMemory device(tg::cuda::few_bytes);
    for (const std::size_t bytes : {std::size_t{4}, std::size_t{1028}, tg::cuda::few_bytes}) {
        CAPTURE(bytes);
        REQUIRE(tg::cuda::can_copy_few(bytes));
        REQUIRE(cudaMemset(device.data(), 0, tg::cuda::few_bytes) == cudaSuccess);
        tg::cuda::copy_few(device.data(), host.data(), bytes, stream.get());
        stream.synchronize();
        std::vector<float> found(bytes / sizeof(float));
        REQUIRE(cudaMemcpy(found.data(), device.data(), bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK(std::memcmp(found.data(), values.data(), bytes) == 0);
    }
    CHECK_FALSE(tg::cuda::can_copy_few(tg::cuda::few_bytes + 4));
    CHECK_FALSE(tg::cuda::can_copy_few(0));
}
