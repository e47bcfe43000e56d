// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemm.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>
#include <totograph/serve/explain/explanation.hpp>

namespace totograph::serve {

namespace detail {

/// The shortest of some runs of what `launch` puts onto a stream, in seconds, after one that is not measured.
template <class Launch>
double shortest_seconds_on(const cuda::Stream& stream, Launch&& launch) {
    constexpr int runs = 6;
    const cuda::Event start(true);
    const cuda::Event end(true);
    double shortest = 0;
    for (int run = 0; run < runs; ++run) {
        start.record(stream.get());
        launch();
        end.record(stream.get());
        stream.synchronize();
        const double seconds = std::max(static_cast<double>(end.since(start)) * 1e-3, 1e-9);
        shortest = run < 2 ? seconds : std::min(shortest, seconds);
    }
    return shortest;
}

/// Fills memory with numbers of either sign between 0.5 and 2, in bf16 as in f32: products of equal numbers, and of
/// zeros, are faster than those of data, for they switch fewer transistors. `bytes` is a multiple of 2 MiB.
inline void fill_with_noise(void* memory, std::size_t bytes, const cuda::Stream& stream) {
    std::vector<std::uint16_t> noise(std::size_t{1} << 20U);
    std::uint32_t state = 1;
    for (std::uint16_t& word : noise) {
        state = state * 1664525U + 1013904223U;
        word = static_cast<std::uint16_t>((state >> 16U & 0x80ffU) | 0x3f00U);
    }
    auto* const to = static_cast<std::byte*>(memory);
    const std::size_t block = noise.size() * sizeof noise[0];
    cuda::check(cudaMemcpyAsync(to, noise.data(), block, cudaMemcpyHostToDevice, stream.get()), "copying noise");
    stream.synchronize();
    for (std::size_t at = block; at < bytes; at += block) {
        cuda::check(cudaMemcpyAsync(to + at, to, block, cudaMemcpyDeviceToDevice, stream.get()), "copying noise");
    }
}

}  // namespace detail

/// What a device reaches, measured in a moment: copying its memory, and a large GEMM by cuBLASLt's first choice of
/// an algorithm. Takes 544 MiB of its memory while it measures. Throws `Error` when there is no such device, or not as
/// much memory.
inline DeviceSpeed measure_cuda_speed(int device = 0, cuda::Precision precision = cuda::Precision::bf16) {
    using cuda::check;
    const cuda::CurrentDevice current(device);
    const cuda::Stream stream;
    DeviceSpeed speed;
    constexpr std::size_t copied = std::size_t{256} << 20U;
    const cuda::DeviceMemory from(copied);
    const cuda::DeviceMemory to(copied);
    check(cudaMemsetAsync(from.data(), 0, copied, stream.get()), "clearing memory");
    const double copying = detail::shortest_seconds_on(stream, [&] {
        check(cudaMemcpyAsync(to.data(), from.data(), copied, cudaMemcpyDeviceToDevice, stream.get()),
              "copying memory");
    });
    speed.bytes_per_second = 2.0 * static_cast<double>(copied) / copying;

    constexpr Index extent = 8192;
    const cuda::CublasLtHandle library;
    cuda::CublasLtGemm gemm(library.get(), {.m = extent,
                                            .n = extent,
                                            .k = extent,
                                            .input_stride = extent,
                                            .output_stride = extent,
                                            .precision = precision});
    gemm.choose(gemm.candidates(1).front());
    const cuda::DeviceMemory workspace(cuda::gemm_workspace_bytes);
    detail::fill_with_noise(from.data(), copied, stream);
    const double multiplying = detail::shortest_seconds_on(stream, [&] {
        gemm.launch(from.data(), from.data(), to.data(), nullptr, nullptr, workspace.data(), stream.get());
    });
    constexpr auto size = static_cast<double>(extent);
    speed.flops_per_second = 2.0 * size * size * size / multiplying;
    return speed;
}

}  // namespace totograph::serve
